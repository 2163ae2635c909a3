import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { request } from 'undici';
import { z } from 'zod';
import { configurationOf } from '../../src/recording/configuration.ts';
import { Membership } from '../../src/recording/membership.ts';
import { loadStates, planDue } from '../../src/recording/plan.ts';
import { registerAll } from '../../src/recording/register.ts';
import { findingGroups } from '../../src/reports/findings.ts';
import { statusOf } from '../../src/reports/status.ts';
import { Child } from '../child.ts';
import { startDatabase } from '../database.ts';
import { watchList } from './configuration.ts';
import { fill } from './fill.ts';

/**
 * What a watch list of the size of the internet costs before anything is asked: 5,000 chains with all their metrics and 100,000 nodes
 * with their three probes, registered in a database of its own. `--chains N --nodes N` for another size.
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

async function timed<T>(
  what: string,
  work: () => T | Promise<T>,
  told: (result: T) => string = () => '',
): Promise<T> {
  const [used, began] = [process.cpuUsage(), performance.now()];
  try {
    const result = await work();
    const seconds = (performance.now() - began) / 1000;
    const { user, system } = process.cpuUsage(used);
    console.log(
      `${what.padEnd(42)} ${seconds.toFixed(2).padStart(8)} s, of this process ${((user + system) / 1e6).toFixed(2).padStart(6)} s  ${told(result)}`,
    );
    return result;
  } catch (error) {
    console.log(
      `${what.padEnd(42)} failed after ${((performance.now() - began) / 1000).toFixed(2)} s: ${String(error)}`,
    );
    throw error;
  }
}

const PAGES = ['/', '/datasets', '/status', '/api/v1/status', '/metrics'];

const database = await startDatabase();
const sql = postgres(database.url, { max: 8, onnotice: () => {} });
let server: Child | null = null;
try {
  const { config, feed, ledger } = await timed('the configuration is checked', () =>
    watchList(chains, nodes),
  );
  const watched = [feed, ledger];
  console.log(
    `${feed.targets.length} series of ${chains} chains, ${ledger.targets.length} probes of ${nodes} nodes`,
  );
  const configuration = await timed('what of it matters to other processes', () =>
    configurationOf(config, watched),
  );
  const membership = await Membership.join(sql, configuration, 'host/1/process', ['worker']);
  const register = () => registerAll(sql, watched, Date.now(), membership.registrant);
  await timed('registered', register);
  await timed('registered again, nothing new', register);
  await timed('a sign of life', () => membership.beat());
  await timed(
    'plan of the first round',
    async () => planDue(feed, await loadStates(sql, feed), Date.now()),
    (jobs) => `${jobs.length} jobs`,
  );
  await timed('filled', () => fill(sql));
  const states = await timed('states read from PostgreSQL', () => loadStates(sql, feed));
  await timed(
    'plan of a round in which few are due',
    () => planDue(feed, states, Date.now()),
    (jobs) => `${jobs.length} jobs`,
  );
  await timed(
    'findings',
    () => findingGroups(sql),
    (found) => `${found.length} groups`,
  );
  await timed(
    'status',
    () => statusOf(sql, []),
    (status) => `${JSON.stringify(status).length} bytes`,
  );
  const { child, first } = await Child.start(
    'watchlist/serve-process.ts',
    [database.url, values.chains, values.nodes],
    z.object({ address: z.string(), pid: z.int() }),
    stop.signal,
  );
  server = child;
  for (const path of PAGES)
    await timed(
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
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
} finally {
  await server?.stop();
  await sql.end({ timeout: 5 });
  await database.close();
}
