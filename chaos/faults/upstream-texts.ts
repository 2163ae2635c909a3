import { TextInjectingUpstream } from '../servers/text-injecting-upstream.ts';
import { configure, dayOf, midnight } from '../settings.ts';
import { CANARY, type World } from '../world.ts';
import type { Fault } from './fault.ts';

/** Characters that JSON, HTML and URLs escape. */
const KEY = `${CANARY}"quoted"\\and/<slashed>&%`;
/** Clears a screen, turns it red, rings the bell, and changes the direction of writing. */
const CONTROLS = '\u001b[2J\u009b31m\u0007\r\u202eover\u2066';
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const DATASETS = ['blockchains', 'subnets', 'proposed_blocks'];
const SHOW_COMMANDS = [
  ['status'],
  ['status', '--json'],
  ['coverage'],
  ['quarantine'],
  ['quarantine', '--json'],
];

/** Records from an upstream with a text in every place, and runs every command that shows the records. */
async function collectOutputs(world: World, textFor: (key: string) => string): Promise<string[]> {
  const { sandbox, evidence, sql } = world;
  const upstream = await TextInjectingUpstream.open(sandbox.url, textFor);
  world.closers.add(() => upstream.close());
  const nodeIds = sandbox.network.validators.nodes.slice(0, 1).map(({ nodeId }) => nodeId);
  await configure(world, {
    nodeIds,
    chainData: { url: upstream.url, apiKeyHeader: 'x-api-key' },
    datasets: { blockchains: {}, subnets: {}, proposed_blocks: { since: dayOf(midnight(1)) } },
  });
  const env = { CHAIN_DATA_API_KEY: KEY, LOG_LEVEL: 'trace' };
  const outputs: string[] = [];
  const run = async (args: readonly string[]) => {
    const recorder = world.recorder(args, { env });
    const { code } = await recorder.ended;
    outputs.push(recorder.stdout, ...recorder.lines);
    world.noteLines(recorder);
    evidence.claim(`${args.join(' ')} ends as a command does (${code})`, [0, 1, 75].includes(code ?? -1));
  };
  for (const dataset of DATASETS) await run(['record', dataset]);
  for (const args of SHOW_COMMANDS) await run(args);
  const [item] = await sql<{ id: string }[]>`select id::text from reporting.quarantine order by id limit 1`;
  if (item) for (const more of [[], ['--json']]) await run(['quarantine', 'show', item.id, ...more]);
  const up = world.recorder(['up'], { env });
  await up.waitForLog('recorded', 90_000);
  await up.stop();
  outputs.push(...up.lines);
  evidence.serve('response with the text', upstream.injectedCount);
  const [stored] = await sql<{ names: number; extra: number; errors: number }[]>`
    select (select count(*) from recorder.blockchains where blockchain_name like '% %')::int as names,
      (select count(*) from recorder.proposed_blocks where extra is not null)::int as extra,
      (select count(*) from recorder.runs where error like '%403%')::int as errors`;
  evidence.claim('it is stored in names', (stored?.names ?? 0) > 0);
  evidence.claim('it is stored in unknown fields', (stored?.extra ?? 0) > 0);
  evidence.claim('it is stored in errors', (stored?.errors ?? 0) > 0);
  evidence.claim('an item with the text instead of a number is in the quarantine', item !== undefined);
  return outputs;
}

/** 72: the key is in every place of a response. */
const echoedKey: Fault = {
  numbers: [72],
  title: 'the key echoed in texts, names, unknown fields and errors, with quotes in it',
  backends: 'each',
  invariants: ['H'],
  async inject(world) {
    const outputs = await collectOutputs(world, (key) => key);
    world.evidence.texts.push({ where: 'output of commands', text: outputs.join('\n') });
  },
};

/** 73: control characters are in every place of a response. */
const controls: Fault = {
  numbers: [73],
  title: 'control characters in responses of an upstream',
  backends: 'each',
  invariants: ['H'],
  async inject(world) {
    const outputs = await collectOutputs(world, () => CONTROLS);
    const unescaped = outputs.find((text) => CONTROL.test(text));
    world.evidence.claim(
      `no command shows them as they are: ${JSON.stringify(unescaped?.slice(0, 200))}`,
      unescaped === undefined,
    );
    world.evidence.claim(
      'they are shown escaped',
      outputs.some((text) => text.includes('\\u009b31m')),
    );
  },
};

export const upstreamTextFaults: readonly Fault[] = [echoedKey, controls];
