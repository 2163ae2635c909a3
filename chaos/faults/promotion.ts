import { setTimeout as delay } from 'node:timers/promises';
import type postgres from 'postgres';
import { z } from 'zod';
import { PostgresPair } from '../servers/postgres-pair.ts';
import { ScriptedNodes } from '../servers/scripted-nodes.ts';
import { DAY, dayOf, midnight } from '../settings.ts';
import { Steady } from '../steady.ts';
import { eventually, until } from '../until.ts';
import { connect, type World } from '../world.ts';
import { claimNoUncaughtErrors, requireRunning } from './database.ts';
import type { Fault } from './fault.ts';

const DAYS = 8;
const HOUR = 3_600_000;
const CHAIN = '43114';
const COMPLETION_TIMEOUT_MS = 300_000;
/** The node that fails while the standby is cut off. */
const FAILING_NODE = 'turning';

/** The setup of a fault here. */
interface PairSetup {
  readonly pair: PostgresPair;
  /** A connection to the server that is the primary at first. */
  readonly old: postgres.Sql;
  readonly nodes: ScriptedNodes;
  readonly steady: Steady;
}

/** Two processes that record blocks, a metric and the health of nodes on a pair of servers. */
async function setUpPair(world: World): Promise<PairSetup> {
  const nodes = await ScriptedNodes.open();
  world.closers.add(() => nodes.close());
  const pair = await PostgresPair.start(world.closers);
  world.databaseUrl = pair.url;
  const old = world.useDatabase(pair.urls[0]);
  const steady = await Steady.start(world, {
    days: DAYS,
    processes: 2,
    nodes: nodes.named([FAILING_NODE, 'well']),
    chains: [CHAIN],
    datasets: {
      metric_points: {
        every: '5s',
        metrics: ['txCount'],
        intervals: ['hour'],
        since: dayOf(midnight(DAYS)),
      },
      node_health: { every: '5s' },
    },
  });
  return { pair, old, nodes, steady };
}

/** Number of rows on a pair's server, by table. */
async function countsOf(sql: postgres.Sql): Promise<Record<string, number>> {
  const [row] = await sql<Record<string, number>[]>`
    select (select count(*)::int from recorder.runs where status = 'done') as runs,
      (select count(*)::int from recorder.proposed_blocks) as blocks,
      (select count(*)::int from recorder.metric_points) as points,
      (select count(*)::int from recorder.health_probes) as probed,
      (select coalesce(sum(probes), 0)::int from recorder.health_probes) as probes`;
  return row ?? {};
}

/** The open state of the node that fails. */
async function stateOf(sql: postgres.Sql): Promise<string | undefined> {
  const [row] = await sql<{ state: string }[]>`
    select state from recorder.node_health
    where node = ${FAILING_NODE} and probe = 'health' and check_name = '*' and ended_at is null`;
  return row?.state;
}

/** Lets runs commit that never reach the standby: some store blocks, and a node fails in the ledger. */
async function commitUnreplicated({ random }: World, { pair, old, nodes }: PairSetup): Promise<void> {
  await until('the node to be well', async () => (await stateOf(old)) === 'up');
  await delay(random.unit() * 3_000);
  pair.hold();
  nodes.failingChecks.set(FAILING_NODE, '"C2":{"error":"ill"}');
  const before = await countsOf(old);
  await until('commits that the standby does not get', async () => {
    const now = await countsOf(old);
    const more = (name: string) => (now[name] ?? 0) - (before[name] ?? 0);
    return more('runs') >= 6 && more('probes') >= 1 && (await stateOf(old)) === 'down';
  });
}

/** The rows that the old server had acknowledged and the promoted one lacks. */
async function claimLosses(
  { evidence }: World,
  acknowledged: Record<string, number>,
  promoted: postgres.Sql,
) {
  const replicated = await countsOf(promoted);
  for (const [name, count] of Object.entries(acknowledged))
    evidence.serve(`lost ${name}`, Math.max(0, count - (replicated[name] ?? 0)));
  evidence.claim(
    'blocks were lost with the old primary',
    (acknowledged.blocks ?? 0) > (replicated.blocks ?? 0),
  );
}

const metricPageSchema = z.object({
  results: z.array(z.object({ timestamp: z.number(), value: z.number() })),
  nextPageToken: z.string().optional(),
});

/** Whether the metric's points equal those of the service, except the newest hours. */
async function expectTrueMetric({ sql, sandbox, evidence }: World): Promise<void> {
  const [from, to] = [midnight(DAYS), Math.floor(Date.now() / HOUR) * HOUR - 6 * HOUR];
  const truth = new Map<number, number>();
  let token: string | undefined = '';
  while (token !== undefined) {
    const query = new URLSearchParams({
      timeInterval: 'hour',
      startTimestamp: String(from / 1000),
      endTimestamp: String(to / 1000 - 1),
      ...(token === '' ? {} : { pageToken: token }),
    });
    const answer = await fetch(`${sandbox.url}/v2/chains/${CHAIN}/metrics/txCount?${query}`);
    const page: z.infer<typeof metricPageSchema> = metricPageSchema.parse(await answer.json());
    for (const { timestamp, value } of page.results) truth.set(timestamp, value);
    token = page.nextPageToken || undefined;
  }
  const stored = await sql<{ at: number; value: number }[]>`
    select extract(epoch from bucket_start)::float8 as at, value::float8 from reporting.metric_points
    where chain_id = ${CHAIN} and metric = 'txCount' and time_interval = 'hour'
      and bucket_start >= ${new Date(from)} and bucket_start < ${new Date(to)}`;
  const wrong = stored.filter(({ at, value }) => truth.get(at) !== value).length;
  evidence.figures.set('points of the metric', stored.length);
  evidence.claim(
    `the metric has ${stored.length} points of ${truth.size}, ${wrong} of them wrong`,
    stored.length === truth.size && wrong === 0 && stored.length > (DAYS - 1) * (DAY / HOUR),
  );
}

/** Whether every incomplete run has ended, or continues now. */
async function expectNoUnfinishedRun({ sql, evidence }: World): Promise<void> {
  const unfinished = await sql`
    select 1 from recorder.runs r where status = 'running' and started_at < now() - interval '2 minutes'
      and not exists (select from recorder.targets t where t.run_id = r.run_id and t.lease_until > now())`;
  evidence.claim(`unfinished runs: ${unfinished.length}`, unfinished.length === 0);
}

async function expectCompletion(world: World, steady: Steady): Promise<void> {
  const { sql, evidence } = world;
  await steady.waitUntilCovered(COMPLETION_TIMEOUT_MS);
  const isDown = eventually(
    'the ledger to have the node as down',
    async () => (await stateOf(sql)) === 'down',
  );
  evidence.claim('the ledger has the node as down', await isDown.catch(() => false));
  requireRunning(steady);
  await expectTrueMetric(world);
  await expectNoUnfinishedRun(world);
  claimNoUncaughtErrors(world);
  await steady.stop();
}

const promotedReplica: Fault = {
  numbers: [79],
  title: 'a replica is promoted while runs commit, after the primary crashed',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E', 'I'],
  sandbox: { blocksPerHour: 60 },
  async inject(world) {
    const { evidence } = world;
    const setup = await setUpPair(world);
    const { pair, old, steady } = setup;
    await commitUnreplicated(world, setup);
    const acknowledged = await countsOf(old);
    await pair.primary.crash();
    await pair.promote();
    evidence.serve('promotion');
    await claimLosses(world, acknowledged, world.useDatabase(pair.urls[1]));
    await steady.expectRecovery('the standby was promoted');
    await expectCompletion(world, steady);
  },
};

/** The old primary was alive: it continues, and is writable, beside the promoted one. */
const resumedPrimary: Fault = {
  numbers: [79],
  title: 'a frozen primary resumes after its replica was promoted, and is not written to',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E', 'I'],
  sandbox: { blocksPerHour: 60 },
  async inject(world) {
    const { evidence, closers } = world;
    const setup = await setUpPair(world);
    const { pair, old, steady } = setup;
    await commitUnreplicated(world, setup);
    const acknowledged = await countsOf(old);
    const thaw = await pair.primary.freeze();
    closers.add(thaw);
    await pair.promote();
    evidence.serve('promotion');
    await claimLosses(world, acknowledged, world.useDatabase(pair.urls[1]));
    await steady.expectRecovery('the standby was promoted');
    thaw();
    evidence.serve('the old primary is back');
    const stale = connect(pair.urls[0], closers);
    const sessions = async () =>
      (
        await stale`select 1 from pg_stat_activity where application_name like 'chain-recorder%' and state <> 'idle'`
      ).length;
    await steady.expectRecovery('the old primary resumed');
    const countsBefore = await countsOf(stale);
    // Now the only one that responds, and still not the one to write to.
    await pair.standby.crash();
    await steady.wait(12_000);
    evidence.serve('the promoted one unavailable');
    await pair.standby.start();
    await steady.expectRecovery('the promoted one was back');
    const countsAfter = await countsOf(stale);
    evidence.claim(
      `the old primary received no writes: ${JSON.stringify(countsBefore)}, then ${JSON.stringify(countsAfter)}`,
      JSON.stringify(countsBefore) === JSON.stringify(countsAfter) && (await sessions()) === 0,
    );
    await expectCompletion(world, steady);
  },
};

export const promotionFaults: readonly Fault[] = [promotedReplica, resumedPrimary];
