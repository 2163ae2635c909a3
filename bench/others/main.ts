import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { toErrorMessage } from '../../src/lib/errors.ts';
import { type ComparisonContext, type Line, tableOf } from './comparison.ts';
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
const skipped: string[] = [];
const context: ComparisonContext = {
  signal: stop.signal,
  log: (line) => void process.stderr.write(`${line}\n`),
  skip(what, why) {
    skipped.push(`LEFT OUT: ${what}: ${why}`);
    process.stderr.write(`${skipped.at(-1)}\n`);
  },
};

function requestedParts(): (keyof typeof PARTS)[] {
  const { only } = parseArgs({ options: { only: { type: 'string' } } }).values;
  const all = ['health', 'polling', 'history'] as const;
  const requested = all.filter((name) => only === undefined || name === only);
  if (requested.length === 0) throw new Error(`--only: must be one of ${all.join(', ')}, not "${only}"`);
  return requested;
}

try {
  const parts = requestedParts();
  try {
    const lines: Line[] = [];
    for (const part of parts) lines.push(...(await PARTS[part](context)));
    console.log(tableOf(lines));
    for (const line of skipped) console.log(line);
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
