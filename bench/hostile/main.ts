import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { backfillUnderLoad } from './backfill.ts';
import { answersText, startLoad } from './load.ts';
import { startWatchList, type WatchResult } from './watch-list.ts';

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
const log = (line: string) => console.log(line);

try {
  if (rows > 0) await backfillUnderLoad({ rows, rounds }, stop.signal, log);
  if (seconds > 0) await watchListUnderLoad();
  log(`load ${loadavg()[0]?.toFixed(1)}`);
} catch (error) {
  if (!stop.signal.aborted) throw error;
  console.error('stopped before the end');
  process.exitCode = 130;
}

/** A watch list for some time, alone and beside the load, alternately. */
async function watchListUnderLoad(): Promise<void> {
  const list = await startWatchList();
  try {
    for (let round = 1; round <= rounds; round++) {
      stop.signal.throwIfAborted();
      log(`round ${round}/${rounds}, ${seconds} s alone: ${formatWatchResult(await list.watch(seconds))}`);
      stop.signal.throwIfAborted();
      const load = await startLoad(list.address);
      const underLoad = await list.watch(seconds).finally(load.stop);
      log(`round ${round}/${rounds}, ${seconds} s beside: ${formatWatchResult(underLoad)}`);
      log(`  answers: ${answersText(await load.ended)}`);
    }
  } finally {
    await list.close();
  }
}

function formatWatchResult({ done, failed, late, probes, expectedProbes, unknown }: WatchResult): string {
  const [middle, p99, max] = late.map((one) => one.toFixed(2));
  return (
    `${done} runs done, ${failed} failed; polls late by ${middle} s (p99 ${p99}, most ${max}); ` +
    `${probes} of ${expectedProbes} probes, ${unknown} times unknown`
  );
}
