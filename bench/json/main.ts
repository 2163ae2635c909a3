import { loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parseJson } from '../../src/upstreams/json.ts';
import { median } from '../median.ts';
import { kinds } from './texts.ts';

/**
 * Duration of exact JSON parsing for several kinds of responses, as a multiple of `JSON.parse`: all ways of each kind
 * alternately in one process, the minimum of the rounds (and their median). `--against FILE` measures the `json.ts` of
 * another checkout in the same rounds.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '120' },
    against: { type: 'string' },
    only: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
/** Versions of an answer, so that no cache of V8 knows all numbers of the next one. */
const VERSIONS = 20;

type Parse = (text: string) => unknown;
const ways: [name: string, parse: Parse][] = [
  ['JSON.parse', JSON.parse],
  ...(values.against === undefined ? [] : [await loadOther(values.against)]),
  ['exact', parseJson],
];

const selected = kinds.filter(({ name }) => name.includes(values.only ?? ''));
const times = new Map(selected.map((kind) => [kind, ways.map((): number[] => [])]));
/** Last parsed value: it is kept, so that nothing of the work can be left out. */
export let parsed: unknown;
// The first rounds warm up. All kinds come in each round, so that no code is compiled for one of them.
for (let round = -20; round < rounds; round++)
  for (const [{ text }, durations] of times) {
    const bytes = Buffer.from(text((round + VERSIONS) % VERSIONS));
    for (const turn of ways.keys()) {
      const at = (turn + round + VERSIONS) % ways.length; // who is first finds nothing warm
      const parse = ways[at]?.[1] ?? JSON.parse;
      const answer = bytes.toString();
      const startedAt = performance.now();
      parsed = parse(answer);
      if (round >= 0) durations[at]?.push(performance.now() - startedAt);
    }
  }

let holds = true;
console.log(
  `least (median) of ${rounds} rounds in turns, times JSON.parse; load ${loadavg()[0]?.toFixed(1)}`,
);
for (const [{ name, maxFactor }, durations] of times) {
  const [plain = [], ...others] = durations;
  const ratios = others.map((each) => Math.min(...each) / Math.min(...plain));
  holds &&= (ratios.at(-1) ?? 0) <= maxFactor;
  const figures = others.map(
    (each, at) =>
      `${ways[at + 1]?.[0]} ${ratios[at]?.toFixed(2)} (${(median(each) / median(plain)).toFixed(2)})`,
  );
  console.log(
    `${name}: ${figures.join(', ')}; at most ${maxFactor}; JSON.parse ${Math.min(...plain).toFixed(3)} ms`,
  );
}
process.exitCode = holds ? 0 : 1;

async function loadOther(file: string): Promise<[string, Parse]> {
  const module: { parseJson: Parse } = await import(resolve(file));
  return ['the other one', module.parseJson];
}
