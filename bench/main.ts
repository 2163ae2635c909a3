import { setMaxListeners } from 'node:events';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { UsageError } from '../src/lib/errors.ts';
import { withArena } from './arena.ts';
import { healthHolds, healthReport, measureHealth } from './health.ts';
import { measureIngest } from './ingest.ts';
import { measureLists } from './lists.ts';
import { readOptions } from './options.ts';
import { measurePolls } from './polls.ts';
import { ingestHolds, ingestReport, listReport, listsHold, pollReport } from './report.ts';

/**
 * Compares the recorder with its unavoidable costs and with a plain loop, all in one run on one machine. Exits 1 if a
 * limit is exceeded, 2 for an invalid command line, 130 if it was stopped.
 */
const stop = new AbortController();
setMaxListeners(0, stop.signal); // each started process listens
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());

try {
  const options = readOptions(process.argv.slice(2));
  const log = (line: string) => process.stderr.write(`${line}\n`);
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cpus: availableParallelism() };
  log(`${machine.cpus} × ${machine.cpu}, Node.js ${machine.node}`);
  const { parts } = options;
  const arena = await withArena(options.rows, stop.signal, async (arena) => ({
    ingest: parts.has('ingest')
      ? await measureIngest(arena, options, (round, contender, { milliseconds }) =>
          log(
            `round ${round}/${options.rounds}  ${contender.padEnd(12)} ${(milliseconds / 1000).toFixed(2)} s`,
          ),
        )
      : null,
    lists: parts.has('lists') ? await measureLists(arena, options, ({ name }) => log(`${name} done`)) : null,
    polls: parts.has('polls')
      ? await measurePolls(arena, options, ({ name }) => log(`polls of ${name} done`))
      : null,
  }));
  const health = parts.has('health') ? await measureHealth(stop.signal, log) : null;
  const { ingest, lists, polls } = arena;
  const load = loadavg().map((one) => one.toFixed(1));
  const tables = [
    ingest && ingestReport(ingest),
    lists && listReport(lists),
    polls && pollReport(polls),
    health && healthReport(health),
    `the machine's load over 1, 5 and 15 minutes: ${load.join(', ')}`,
  ];
  console.log(
    options.json
      ? JSON.stringify({ machine, load, ingest, lists, polls, health })
      : `\n${tables.filter((table) => table !== null).join('\n\n')}`,
  );
  const holds =
    (ingest === null || ingestHolds(ingest)) &&
    (lists === null || listsHold(lists)) &&
    (health === null || healthHolds(health));
  process.exitCode = holds ? 0 : 1;
} catch (error) {
  if (stop.signal.aborted) console.error('stopped');
  else console.error(error instanceof UsageError ? error.message : error);
  process.exitCode = stop.signal.aborted ? 130 : error instanceof UsageError ? 2 : 1;
}
