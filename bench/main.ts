import { availableParallelism, cpus } from 'node:os';
import { UsageError } from '../src/errors.ts';
import { withArena } from './arena.ts';
import { healthHolds, healthReport, measureHealth } from './health.ts';
import { measureIngest } from './ingest.ts';
import { readOptions } from './options.ts';
import { measurePolls } from './polls.ts';
import { ingestReport, LEAST_OVER_LOOP, MOST_OVER_WIRE, pollReport } from './report.ts';

/**
 * Measures the recorder beside what it cannot avoid and beside the plain way, all in one run on one machine. Exits 1
 * when a bound does not hold, 2 for a wrong command line, 130 when it was stopped.
 */
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());

try {
  const options = readOptions(process.argv.slice(2));
  const tell = (line: string) => process.stderr.write(`${line}\n`);
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cpus: availableParallelism() };
  tell(`${machine.cpus} × ${machine.cpu}, Node.js ${machine.node}`);
  const arena = await withArena(options.rows, stop.signal, async (arena) => ({
    machine,
    ingest: await measureIngest(arena, options, (round, contender, { milliseconds }) =>
      tell(`round ${round}/${options.rounds}  ${contender.padEnd(12)} ${(milliseconds / 1000).toFixed(2)} s`),
    ),
    polls: await measurePolls(arena, options, ({ name }) => tell(`polls of ${name} done`)),
  }));
  const result = { ...arena, health: await measureHealth(stop.signal, tell) };
  const { ingest, polls, health } = result;
  console.log(
    options.json
      ? JSON.stringify(result)
      : `\n${ingestReport(ingest)}\n\n${pollReport(polls)}\n\n${healthReport(health)}`,
  );
  const holds =
    ingest.overWire <= MOST_OVER_WIRE && ingest.overLoop >= LEAST_OVER_LOOP && healthHolds(health);
  process.exitCode = holds ? 0 : 1;
} catch (error) {
  if (stop.signal.aborted) console.error('stopped');
  else console.error(error instanceof UsageError ? error.message : error);
  process.exitCode = stop.signal.aborted ? 130 : error instanceof UsageError ? 2 : 1;
}
