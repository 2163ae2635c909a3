import { readFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { request } from 'undici';
import { z } from 'zod';
import { openDatabase } from '../../src/db/client.ts';
import { createConfiguration } from '../../src/recording/configuration.ts';
import { loadStates, planDue } from '../../src/recording/plan.ts';
import { ProcessRegistration } from '../../src/recording/process-registration.ts';
import { registerAll } from '../../src/recording/register.ts';
import { isMetered } from '../../src/reporting/reports/call-demand.ts';
import { findingGroups } from '../../src/reporting/reports/findings.ts';
import { forecast } from '../../src/reporting/reports/forecast.ts';
import { statusOf } from '../../src/reporting/reports/status.ts';
import { Child } from '../child.ts';
import { startDatabase } from '../database.ts';
import { ProcessorMeter, processorTime } from '../pages/processor.ts';
import { watchList } from './configuration.ts';
import { fill } from './fill.ts';

/**
 * Cost of a watch list of the size of the internet before any request: 5,000 chains with all their metrics and 100,000
 * nodes with their three probes, registered in a separate database. `--chains N --nodes N` for another size.
 */
const { values } = parseArgs({
  options: {
    chains: { type: 'string', default: '5000' },
    nodes: { type: 'string', default: '100000' },
  },
});
const [chains, nodes] = [Number(values.chains), Number(values.nodes)];
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

// Statements have one core each, as those of the pages do: the cost of parallel workers could not be counted.
const database = await startDatabase({ max_parallel_workers_per_gather: 0 });
let measuredPid = process.pid;
const meters = new Map<number, ProcessorMeter>();

/** Processor time of the process that works, and of PostgreSQL for it; s. */
async function readProcessorTime(): Promise<{ readonly own: number; readonly database: number }> {
  const meter = meters.get(measuredPid) ?? new ProcessorMeter(database.url, measuredPid);
  meters.set(measuredPid, meter);
  const [own, both] = [(await processorTime(measuredPid)) / 1e9, (await meter.read()) / 1e3];
  return { own, database: both - own };
}

async function runTimed<T>(
  what: string,
  work: () => T | Promise<T>,
  describe: (result: T) => string = () => '',
): Promise<T> {
  const [before, startedAt] = [await readProcessorTime(), performance.now()];
  try {
    const result = await work();
    const seconds = (performance.now() - startedAt) / 1000;
    const after = await readProcessorTime();
    const figure = (value: number) => Math.max(0, value).toFixed(2).padStart(7);
    console.log(
      `${what.padEnd(42)} ${figure(seconds)} s; processor ${figure(after.own - before.own)} s here, ${figure(after.database - before.database)} s in PostgreSQL  ${describe(result)}`,
    );
    return result;
  } catch (error) {
    console.log(
      `${what.padEnd(42)} failed after ${((performance.now() - startedAt) / 1000).toFixed(2)} s: ${String(error)}`,
    );
    throw error;
  }
}

const PAGES = ['/', '/datasets', '/status', '/api/v1/status', '/metrics'];

/** The memory of a process, MB. */
async function memoryOf(pid: number): Promise<string> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
  return `memory ${(kilobytes('VmRSS') / 1024).toFixed(0)} MB, at most ${(kilobytes('VmHWM') / 1024).toFixed(0)} MB`;
}

// Queries with the recorder's time limits.
const { sql, reader, close } = openDatabase(database.url);
const unlimited = postgres(database.url, { max: 1, onnotice: () => {} });
let server: Child | null = null;
try {
  const { config, feed, ledger } = await runTimed('the configuration is checked', () =>
    watchList(chains, nodes),
  );
  const feeds = [feed, ledger];
  console.log(
    `${feed.targets.length} series of ${chains} chains, ${ledger.targets.length} probes of ${nodes} nodes`,
  );
  const configuration = await runTimed('what of it matters to other processes', () =>
    createConfiguration(config, feeds),
  );
  const registration = await ProcessRegistration.join(sql, configuration, 'host/1/process', ['worker']);
  const register = () => registerAll(sql, feeds, Date.now(), registration.registrant);
  await runTimed('registered', register);
  await runTimed('registered again, nothing new', register);
  await runTimed('a sign of life', () => registration.beat());
  await runTimed(
    'plan of the first round',
    async () => planDue(feed, await loadStates(sql, feed), Date.now()),
    (jobs) => `${jobs.length} jobs`,
  );
  await runTimed('filled', () => fill(unlimited));
  const states = await runTimed('states read from PostgreSQL', () => loadStates(sql, feed));
  await runTimed(
    'plan of a round in which few are due',
    () => planDue(feed, states, Date.now()),
    (jobs) => `${jobs.length} jobs`,
  );
  await runTimed(
    'findings',
    () => findingGroups(reader),
    (found) => `${found.length} groups`,
  ).catch(() => {});
  await runTimed(
    'status',
    () => statusOf(reader, []),
    (status) => `${JSON.stringify(status).length} bytes`,
  ).catch(() => {});
  await runTimed(
    'forecast',
    () => forecast(sql, feeds.filter(isMetered), Date.now()),
    (feeds) => `${feeds.reduce((sum, { day }) => sum + day.calls, 0)} calls a day`,
  );
  console.log(`this process: ${await memoryOf(process.pid)}; load ${loadavg()[0]?.toFixed(1)}`);
  const { child, first } = await Child.start(
    'watchlist/serve-process.ts',
    [database.url, values.chains, values.nodes],
    z.object({ address: z.string(), pid: z.int() }),
    stop.signal,
  );
  server = child;
  measuredPid = first.pid;
  // Each twice: a result that takes longer than a page waits is cached the next time.
  for (const path of PAGES.flatMap((one) => [one, one]))
    await runTimed(
      path,
      async () => {
        const { statusCode, body } = await request(first.address + path, {
          headersTimeout: 120_000,
          bodyTimeout: 120_000,
        });
        return { statusCode, text: await body.text() };
      },
      ({ statusCode, text }) =>
        `${statusCode}, ${(Buffer.byteLength(text) / 1e6).toFixed(2)} MB${statusCode === 200 ? '' : `: ${text.slice(0, 200)}`}`,
    ).catch(() => {});
  console.log(`the server: ${await memoryOf(first.pid)}`);
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
} finally {
  await server?.stop();
  for (const meter of meters.values()) await meter.close();
  await unlimited.end({ timeout: 5 });
  await close();
  await database.close();
}
