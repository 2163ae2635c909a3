import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { backfillBeside } from './backfill.ts';
import { answersText, beginLoad } from './load.ts';
import { startWatchList, type Watched } from './watch-list.ts';

/**
 * Measures the effect of hostile load on the recording of the same process, alternately: the rate of a backfill, and
 * the punctuality of a watch list: `npx tsx bench/hostile/main.ts [--rows 200000] [--rounds 3] [--seconds 60]`, after
 * `npm run build`. The clients use processors of the recording too: they run on the same machine.
 */
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '200000' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '60' },
  },
});
const [rows, rounds, seconds] = [Number(values.rows), Number(values.rounds), Number(values.seconds)];
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
const tell = (line: string) => console.log(line);

try {
  if (rows > 0) await backfillBeside({ rows, rounds }, stop.signal, tell);
  if (seconds > 0) await watchListBeside();
  tell(`load ${loadavg()[0]?.toFixed(1)}`);
} catch (error) {
  if (!stop.signal.aborted) throw error;
  console.error('stopped before the end');
  process.exitCode = 130;
}

/** A watch list for some time, alone and beside the load, alternately. */
async function watchListBeside(): Promise<void> {
  const list = await startWatchList();
  try {
    for (let round = 1; round <= rounds; round++) {
      stop.signal.throwIfAborted();
      tell(`round ${round}/${rounds}, ${seconds} s alone: ${watchedText(await list.watched(seconds))}`);
      stop.signal.throwIfAborted();
      const load = await beginLoad(list.address);
      const beside = await list.watched(seconds).finally(load.stop);
      tell(`round ${round}/${rounds}, ${seconds} s beside: ${watchedText(beside)}`);
      tell(`  answers: ${answersText(await load.ended)}`);
    }
  } finally {
    await list.close();
  }
}

function watchedText({ done, failed, late, looks, due, unknown }: Watched): string {
  const [middle, p99, most] = late.map((one) => one.toFixed(2));
  return (
    `${done} runs done, ${failed} failed; polls late by ${middle} s (p99 ${p99}, most ${most}); ` +
    `${looks} of ${due} probes, ${unknown} times unknown`
  );
}
