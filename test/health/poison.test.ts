import { afterAll, beforeAll, expect } from 'vitest';
import { activeLedgers, catalogNames } from '../../src/app/configured-feeds.ts';
import { validateConfig } from '../../src/config/load.ts';
import { createProbeQuery } from '../../src/health/probe-node.ts';
import { unmetered } from '../../src/upstreams/budget.ts';
import { parseJson } from '../../src/upstreams/json.ts';
import { UpstreamSession } from '../../src/upstreams/upstream-session.ts';
import { withDatabase } from '../support/fixture.ts';
import { createRandom } from '../support/random.ts';
import { type UpstreamServer, upstreamServer } from '../support/upstream-server.ts';
import { createReport, type PoisonedReport, UNREADABLE } from './poisoned-reports.ts';
import { minute, second, World } from './world.ts';

/** Number of reports; POISONED_REPORTS=10000 for a long run. Few reports have a higher share of poisoned ones. */
const REPORTS = Number(process.env.POISONED_REPORTS ?? 400);
const ONE_IN = REPORTS < 5_000 ? 8 : 100;
const nodes = ['a', 'b', 'c', 'd', 'well'];
const start = Date.UTC(2026, 0, 10);

const { it, sql } = withDatabase();
let server: UpstreamServer;
const reports = new Map<string, PoisonedReport>();
beforeAll(async () => {
  server = await upstreamServer(({ url }, response) => {
    const report = reports.get(url.pathname.split('/')[1] ?? '');
    response.writeHead(report?.status ?? 500, { 'content-type': 'application/json' }).end(report?.body);
  });
});
afterAll(async () => {
  await server.close();
});

const random = createRandom(Number(process.env.POISON_SEED ?? 20_260_110));

/** The expected reading of a report; only the parser decides whether it is JSON. */
function expectedStateOf({ status, healthy, body, poison }: PoisonedReport): ExpectedReading['state'] {
  // Without a report the status decides, and a status of 2xx proves nothing about the node.
  const byStatus = status >= 500 ? 'down' : 'unknown';
  if (poison !== null && poison in UNREADABLE) return byStatus;
  try {
    parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return byStatus;
  }
  return healthy ? 'up' : 'down';
}

function createQuery() {
  const config = validateConfig(
    {
      network: 'mainnet',
      upstreams: { nodes: nodes.map((name) => ({ name, url: `${server.url}/${name}` })) },
      datasets: { node_health: { every: '30s' } },
    },
    catalogNames,
    'the test',
  );
  const [ledger] = activeLedgers(config);
  if (!ledger) throw new Error('node_health is not active');
  const settings = {
    headers: {},
    redact: (text: string) => text,
    budget: unmetered,
    deadline: 30_000,
    maxBytes: 3e7,
  };
  return createProbeQuery(
    (_feed, { target }, context) => {
      const name = target.node ?? '';
      return new UpstreamSession({ ...settings, name, url: `${server.url}/${name}` }, context);
    },
    ledger,
    Date.now,
  );
}

interface ExpectedReading {
  readonly node: string;
  readonly at: number;
  readonly state: 'up' | 'down' | 'unknown';
  readonly poison: string | null;
}

/** The expected state of each second: a failing probe counts if the node was down before it, or the next one agrees. */
function computeExpectedStates(readings: readonly ExpectedReading[], until: number): string[] {
  const states: string[] = readings.map(({ state }) => state);
  readings.forEach(({ state }, n) => {
    if (state === 'down' && states[n - 1] !== 'down' && readings[n + 1]?.state !== 'down')
      states[n] = readings[n + 1]?.state === 'unknown' ? 'unknown' : (states[n - 1] ?? 'nothing');
  });
  return Array.from({ length: (until - start) / second }, (_, at) => {
    const n = readings.findLastIndex((reading) => reading.at <= start + at * second);
    return states[n] ?? 'nothing';
  });
}

it(`counts each of ${REPORTS} reports, one in ${ONE_IN} poisoned, as a probe, with the intended state every second`, async () => {
  const world = new World(
    sql,
    'poison',
    nodes.map((node) => ({ node, probe: 'health' })),
    start,
    10 * second,
  );
  const query = createQuery();
  const expected: ExpectedReading[] = [];
  const health = new Map<string, boolean>();
  const stop = new AbortController();
  world.respond = (node) => {
    // The last minutes are healthy, so that no failure waits for its confirmation.
    const isLast = expected.length >= REPORTS;
    const hasChanged = node !== 'well' && random() < 0.08;
    const healthy = isLast || (health.get(node) ?? true) !== hasChanged;
    health.set(node, healthy);
    const report = createReport(
      random,
      world.now,
      healthy,
      !isLast && node !== 'well' && random() * ONE_IN < 1,
    );
    reports.set(node, report);
    expected.push({ node, at: world.now, state: expectedStateOf(report), poison: report.poison });
    return query({ node, probe: 'health' }, stop.signal);
  };
  await world.start();
  while (expected.length < REPORTS) await world.pass(minute);
  await world.pass(5 * minute);
  await world.flush();

  expect(world.warnings).toEqual([]);
  const mismatches = world.observations.flatMap(({ node, at, result }) => {
    const expectedReading = expected.find((one) => one.node === node && one.at === at);
    return result.state === expectedReading?.state
      ? []
      : [`${expectedReading?.poison}: ${result.state}, ${result.error}`];
  });
  expect(mismatches).toEqual([]);
  const probes = await sql<{ node: string; probes: number; recorded: number }[]>`
    select p.node, p.probes::int, (select sum(s.probes)::int from reporting_internal.node_states s
      where s.observer = p.observer and s.node = p.node) as recorded
    from reporting_internal.node_probes p where p.observer = 'poison' order by p.node`;
  for (const node of nodes) {
    const nodeReadings = expected.filter((one) => one.node === node);
    expect(probes.find((one) => one.node === node)).toEqual({
      node,
      probes: nodeReadings.length,
      recorded: nodeReadings.length,
    });
    const recorded = Array<string>((world.now - start) / second).fill('nothing');
    const parts = await sql<{ state: string; from: number; to: number }[]>`
      select state, extract(epoch from started_at)::float8 - ${start / 1000} as from,
        extract(epoch from ended_at)::float8 - ${start / 1000} as to
      from reporting_internal.node_states where observer = 'poison' and node = ${node} order by started_at`;
    for (const { state, from, to } of parts) recorded.fill(state, from, to);
    const expectedStates = computeExpectedStates(nodeReadings, world.now);
    expect(recorded.findIndex((state, at) => state !== expectedStates[at])).toBe(-1);
  }
  const sums = await sql<{ node: string; exact: boolean }[]>`
    select node, up_seconds + down_seconds + unknown_seconds + maintenance_seconds = ${(world.now - start) / second} as exact
    from reporting.node_uptime(${new Date(start)}, ${new Date(world.now)}) where observer = 'poison'`;
  expect(sums.map(({ exact }) => exact)).toEqual(nodes.map(() => true));
  const poisoned = expected.filter(({ poison }) => poison !== null);
  expect(poisoned.length).toBeGreaterThan(REPORTS / ONE_IN / 3);
  if (process.env.POISONED_REPORTS) console.log(`${expected.length} probes, ${poisoned.length} poisoned`);
}, 60_000);
