import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { toErrorMessage } from '../../src/lib/errors.ts';
import { type Comparing, type Line, tableOf } from './comparison.ts';
import { compareHealth } from './health.ts';
import { compareHistory } from './history.ts';
import { comparePolling } from './polling.ts';

/**
 * Compares the recorder with others for the same work, in one table: Prometheus with its blackbox exporter and collectd
 * for health, a loop, pg-boss and graphile-worker for polling, snapshots in a table and in Parquet for history.
 * Programs that are not installed are skipped with a message. `npx tsx bench/others/main.ts [--only
 * health|polling|history]`. Exits 2 for an invalid command line, 130 if it was stopped.
 */
const PARTS = { health: compareHealth, polling: comparePolling, history: compareHistory };

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
const leftOut: string[] = [];
const comparing: Comparing = {
  signal: stop.signal,
  tell: (line) => void process.stderr.write(`${line}\n`),
  leaveOut(what, why) {
    leftOut.push(`LEFT OUT: ${what}: ${why}`);
    process.stderr.write(`${leftOut.at(-1)}\n`);
  },
};

function partsAsked(): (keyof typeof PARTS)[] {
  const { only } = parseArgs({ options: { only: { type: 'string' } } }).values;
  const all = ['health', 'polling', 'history'] as const;
  const asked = all.filter((name) => only === undefined || name === only);
  if (asked.length === 0) throw new Error(`--only: must be one of ${all.join(', ')}, not "${only}"`);
  return asked;
}

try {
  const parts = partsAsked();
  try {
    const lines: Line[] = [];
    for (const part of parts) lines.push(...(await PARTS[part](comparing)));
    console.log(tableOf(lines));
    for (const line of leftOut) console.log(line);
    console.log(
      `the machine's load over 1, 5 and 15 minutes: ${loadavg()
        .map((one) => one.toFixed(1))
        .join(', ')}`,
    );
  } catch (error) {
    console.error(stop.signal.aborted ? 'stopped' : error);
    process.exitCode = stop.signal.aborted ? 130 : 1;
  }
} catch (error) {
  console.error(toErrorMessage(error));
  process.exitCode = 2;
}
