import fc from 'fast-check';
import postgres from 'postgres';
import { beforeEach, describe, expect } from 'vitest';
import { applyRetention } from '../../src/daemon/apply-retention.ts';
import { nativeTransactions } from '../../src/datasets/chain-data/native-transactions.ts';
import { subnets } from '../../src/datasets/chain-data/subnets.ts';
import type { Range } from '../../src/datasets/contract.ts';
import { metricPoints } from '../../src/datasets/metrics/metric-points.ts';
import { chainHeights } from '../../src/datasets/node/chain-heights.ts';
import { pBlocks } from '../../src/datasets/node/p-blocks.ts';
import { peers } from '../../src/datasets/node/peers.ts';
import { validators } from '../../src/datasets/node/validators.ts';
import { withDefaultSettings } from '../../src/recording/active-feed.ts';
import { closeDays } from '../../src/recording/close-days.ts';
import {
  findUncoveredWindows,
  loadStates,
  missingWindows,
  planDue,
  targetStateOf,
} from '../../src/recording/plan.ts';
import { record } from '../../src/recording/record.ts';
import { registerTargets } from '../../src/recording/register.ts';
import { listSweepWindows } from '../../src/recording/sweep-windows.ts';
import { recordedNamed } from '../../src/reporting/recorded-datasets.ts';
import { sealUntil } from '../../src/reporting/seals/seal.ts';
import { verify } from '../../src/reporting/seals/verify.ts';
import { relationSql } from '../../src/reporting/views/declared-objects.ts';
import { planRetention, type Retention, retain } from '../../src/retention/retention.ts';
import { retainable } from '../../src/retention/retention-rules.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../support/scripted-feed.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const start = Date.UTC(2025, 0, 1);
const never = new AbortController().signal;
/** Every dataset of these worlds. */
const KEEP: Retention = {
  metric_points: 90 * DAY,
  validators: 90 * DAY,
  p_blocks: 90 * DAY,
  chain_heights: 90 * DAY,
  node_health: 90 * DAY,
};

const { it, database, sql } = withDatabase({ max: 4, connection: { TimeZone: 'UTC' } });
/** Deletes the rows of a few tables: faster than truncating them all. */
const truncateTables = async () => {
  const tables = [
    ...[
      'metric_points',
      'subnets',
      'peers',
      'validators',
      'p_blocks',
      'chain_heights',
      'native_transactions',
      'runs',
      'changes',
      'targets',
      'target_datasets',
    ],
    ...['coverage', 'gaps', 'quarantine', 'retention', 'reading_scopes', 'reading_members', 'reading_open'],
    ...[
      'reading_observations',
      'reading_days',
      'reading_kept',
      'node_health',
      'health_absences',
      'health_observers',
    ],
    ...['health_probes', 'seals', 'seal_datasets', 'seal_parts', 'seal_forms', 'seal_changes', 'run_days'],
  ];
  await sql.unsafe(`truncate ${tables.map((name) => `recorder.${name}`).join(', ')}`);
};
beforeEach(truncateTables);

const ROUNDS = 18;
const round = fc.record({
  members: fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 3 })), {
    selector: ([key]) => key,
    maxLength: 4,
  }),
  points: fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 2 })), {
    selector: ([key]) => key,
    maxLength: 6,
  }),
  blocks: fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 1, max: 2 })), {
    selector: ([key]) => key,
    maxLength: 4,
  }),
  unwatched: fc.integer({ min: 0, max: 5 }).map((one) => one === 0),
  /** Days from one round to the next. */
  after: fc.integer({ min: 6, max: 14 }),
  state: fc.constantFrom('up', 'up', 'down', 'unknown'),
  check: fc.constantFrom('up', 'down', null),
  absent: fc.boolean(),
});
type Round = typeof round extends fc.Arbitrary<infer T> ? T : never;

/** Records rounds as the recorder does, with a day or more between them. @returns the time of the last one */
async function recordRounds(rounds: readonly Round[]): Promise<number> {
  const clock = new ManualClock(start);
  const context = recordingContext(sql, clock.read);
  const confirmShrink = { observations: 1, minDuration: 0 };
  const list = scriptedFeed(validators, { node: 'n', subnetId: 's' }, { confirmShrink });
  const points = scriptedFeed(metricPoints, { chainId: '1', metric: 'txCount', timeInterval: 'day' });
  const blocks = scriptedFeed(pBlocks, { node: 'n' });
  const heights = scriptedFeed(chainHeights, { node: 'n', chain: 'P' });
  for (const feed of [list, points, blocks, heights])
    await registerTargets(sql, feed, clock.now, { recorder: 'recorder', digest: null });
  for (const [at, one] of rounds.entries()) {
    clock.now += one.after * DAY;
    list.script = () =>
      onlyPage({
        validators: one.members.map(([key, weight]) => ({ nodeID: `node-${key}`, startTime: 1, weight })),
      });
    const today = Math.floor(clock.now / DAY);
    points.script = () =>
      onlyPage({
        results: one.points.map(([age, value]) => ({ timestamp: (today - 15 * age) * 86_400, value })),
      });
    blocks.script = () => onlyPage({ blocks: one.blocks.map(([height, id]) => ({ height, id: `b${id}` })) });
    heights.script = () => onlyPage({ height: String(100 + at) });
    for (const feed of [list, points, blocks, heights]) await run(context, feed);
    if (one.unwatched)
      await sql`update recorder.validators set valid_to = ${new Date(clock.now + HOUR)}, ended_by = 'unwatched' where valid_to is null`;
  }
  await writeLedger(rounds, clock.now);
  return clock.now;
}

/**
 * A ledger of three observers: the states of the node in each round, with a continuing check below. The last one stops
 * after a third of the rounds.
 */
async function writeLedger(allRounds: readonly Round[], end: number): Promise<void> {
  for (const [place, observer] of ['a', 'b', 'stopped'].entries()) {
    const rounds = place < 2 ? allRounds : allRounds.slice(0, allRounds.length / 3);
    const until = place < 2 ? end : rounds.reduce((at, { after }) => at + after * DAY, start);
    await sql`insert into recorder.health_observers (observer, heartbeat_at) values (${observer}, ${new Date(until)})`;
    await sql`insert into recorder.health_probes (observer, node, probe, probes, probed_at) values (${observer}, 'n', 'health', 1, ${new Date(until)})`;
    const target = { observer, node: 'n', probe: 'health' };
    await sql`insert into recorder.targets (source, target_key, target) values ('probes', ${observer}, ${sql.json(target)})`;
    await sql`
      insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since)
      values ('probes', ${observer}, 'node_health', 60000, true, ${new Date(start)})`;
    const insertInterval = (check: string, from: number, to: number | null, state: string) => sql`
      insert into recorder.node_health (observer, node, probe, check_name, state, error, started_at, ended_at, reported, probes)
      values (${observer}, 'n', 'health', ${check}, ${state}, ${state === 'up' ? null : `${state} ${from}`}, ${new Date(from)},
        ${to === null ? null : new Date(to)}, ${state !== 'unknown'}, 1)`;
    let at = start;
    let check = { state: 'up', from: start };
    for (const [index, one] of rounds.entries()) {
      const end = at + one.after * DAY;
      // The second observer records the same an hour later, and short recoveries.
      const from = at + place * HOUR;
      const to = index === rounds.length - 1 ? null : end + place * HOUR;
      if (one.state === 'down' && place === 1) {
        await insertInterval('*', from, from + HOUR, 'down');
        await insertInterval('*', from + HOUR, from + HOUR + 60_000, 'up');
        await insertInterval('*', from + HOUR + 60_000, to, 'down');
      } else await insertInterval('*', from, to, one.state);
      if (one.check !== null && from > check.from) {
        await insertInterval('c', check.from, from, check.state);
        check = { state: one.check, from };
      }
      if (one.absent)
        await sql`
          insert into recorder.health_absences (observer, started_at, ended_at, reason)
          values (${observer}, ${new Date(from + 2 * HOUR)}, ${new Date(from + 3 * HOUR)}, 'off')`;
      at = end;
    }
    await insertInterval('c', check.from, null, check.state);
  }
}

const queryRows = async (text: string): Promise<string[]> =>
  (await sql.unsafe<{ row: string }[]>(`select to_jsonb(x)::text as row from (${text}) x`))
    .map(({ row }) => row)
    .sort();

/**
 * All queries of the kept range, as texts: their results must not depend on the removal.
 * @param from start of a window, whose result starts at the kept range
 */
async function queryKeptRange(
  keptFrom: number,
  until: number,
  from = keptFrom,
): Promise<Record<string, string[]>> {
  const k = `'${new Date(keptFrom).toISOString()}'::timestamptz`;
  const results: Record<string, string[]> = {};
  const moments = Array.from({ length: 4 }, (_, at) => keptFrom + ((until - keptFrom) * at) / 3);
  for (const moment of moments) {
    const t = `'${new Date(moment).toISOString()}'::timestamptz`;
    const addResult = async (name: string, text: string) => {
      results[`${name} as of ${t}`] = await queryRows(text);
    };
    await addResult('state', `select * from reporting.node_validators_as_of(${t})`);
    await addResult('series', `select * from reporting.metric_points_as_of(${t}) where bucket_start >= ${k}`);
    await addResult('log', `select * from reporting.node_p_blocks_as_of(${t}) where valid_from >= ${k}`);
    await addResult(
      'sample',
      `select * from reporting_internal.chain_heights_as_of(${t}) where observed_at >= ${k}`,
    );
    await addResult('ledger', `select * from reporting.node_health_as_of(${t})`);
    await addResult(
      'incidents',
      `select * from reporting.node_incidents_as_of(${t}) where is_open or ended_at >= ${k}`,
    );
  }
  const u = `'${new Date(until).toISOString()}'::timestamptz`;
  results.now = await queryRows('select * from reporting.node_validators');
  results.changes = await queryRows(`select * from reporting.node_validators_changes where at >= ${k}`);
  results.history = await queryRows(
    `select * from reporting.node_validators_history where valid_to is null or valid_to >= ${k}`,
  );
  results.revisions = await queryRows(
    `select * from reporting.metric_points_history where bucket_start >= ${k} and (valid_to is null or valid_to >= ${k} or vanished)`,
  );
  results.conflicts = await queryRows(
    `select * from reporting.node_p_blocks_history where valid_from >= ${k}`,
  );
  results.daily = await queryRows(`select * from reporting.chain_heights_daily where day >= ${k}::date`);
  const f = `'${new Date(from).toISOString()}'::timestamptz`;
  results.weights = await queryRows(`select * from reporting.subnet_stake_daily(${f}, ${u})`);
  results.sums = await queryRows(`select * from reporting.metric_by_chain(${f}, ${u}, 'txCount')`);
  results.uptime = await queryRows(`select * from reporting.node_uptime(${k}, ${u})`);
  results.checks = await queryRows(
    `select observer, check_name, state, ended_at from reporting.node_health_history where ended_at >= ${k}`,
  );
  results.coverage = await queryRows(
    `select dataset, target, greatest(range_start, ${k}), range_end from reporting.coverage where range_end > ${k}`,
  );
  return results;
}

/** The same truth from the rounds alone: the members of a list at a moment. */
function membersAt(rounds: readonly Round[], moment: number): string[] {
  let at = start;
  let members: readonly (readonly [number, number])[] = [];
  for (const one of rounds) {
    at += one.after * DAY;
    if (at > moment) break;
    members = one.unwatched && at + HOUR <= moment ? [] : one.members;
  }
  return members.map(([key, weight]) => `node-${key} ${weight}`).sort();
}

const closeAll = async (now: number) => {
  const closing = postgres(database.url, { max: 1, onnotice: () => {} });
  await closeDays(closing, now, never).finally(() => closing.end({ timeout: 1 }));
};

describe('a limited retention', () => {
  it('keeps results of every moment in the kept range, for every kind of history', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: ROUNDS, maxLength: ROUNDS }), async (rounds) => {
        await truncateTables();
        const until = await recordRounds(rounds);
        await closeAll(until);
        const keptFrom = Math.floor((until - 90 * DAY) / DAY) * DAY;
        fc.pre(keptFrom > start + 20 * DAY);
        const before = await queryKeptRange(keptFrom, until);
        const plan = await planRetention(sql, KEEP, until);
        for (const { dataset, removed } of await retain(sql, KEEP, until, never)) {
          const planned = plan.find((one) => one.dataset === dataset)?.going ?? -1;
          // An absence is removed once the intervals above it are removed.
          expect([dataset, dataset === 'node_health' ? removed >= planned : removed]).toEqual([
            dataset,
            dataset === 'node_health' ? true : planned,
          ]);
        }
        expect(await queryKeptRange(keptFrom, until, start)).toEqual(before);
        for (const moment of [keptFrom, (keptFrom + until) / 2, until])
          expect(
            (
              await sql<{ member: string }[]>`
                select node_id || ' ' || weight as member from reporting.node_validators_as_of(${new Date(moment)})`
            )
              .map(({ member }) => member)
              .sort(),
          ).toEqual(membersAt(rounds, moment));
        // And rows that need not be kept are removed.
        const unneeded = await sql`
          select from recorder.validators o where valid_to < ${new Date(keptFrom)} and (ended_by <> 'unwatched' or exists (
            select from recorder.validators n where n.node_id = o.node_id and n.valid_from >= o.valid_to and n.valid_from < ${new Date(keptFrom)}))
          union all select from recorder.metric_points where valid_from < ${new Date(keptFrom)} and coalesce(valid_to, '-infinity') < ${new Date(keptFrom)}
            and bucket_start < ${new Date(keptFrom)}
          union all select from recorder.p_blocks where valid_from < ${new Date(keptFrom)} and coalesce(valid_to, '-infinity') < ${new Date(keptFrom)}
          union all select from reporting.chain_heights where observed_at < ${new Date(keptFrom)}`;
        expect(unneeded).toHaveLength(0);
        expect(await retain(sql, KEEP, until, never)).toEqual([]);
      }),
      { numRuns: Number(process.env.TEST_WORLDS ?? 2), endOnFailure: true },
    );
  });

  it('keeps the history of incidents in the kept range, also if a node was up only briefly before it', async () => {
    const until = start + 200 * DAY;
    const keptFrom = until - 90 * DAY;
    await sql`insert into recorder.health_observers (observer, heartbeat_at) values ('a', ${new Date(until)})`;
    await sql`insert into recorder.health_probes (observer, node, probe, probes, probed_at) values ('a', 'n', 'health', 1, ${new Date(until)})`;
    const edges = [start, keptFrom - 10 * DAY, keptFrom - 9 * DAY, keptFrom - 8 * DAY, keptFrom + DAY, null];
    for (const [place, state] of ['up', 'down', 'up', 'down', 'up'].entries()) {
      const [from, to = null] = edges.slice(place);
      await sql`
        insert into recorder.node_health (observer, node, probe, check_name, state, started_at, ended_at)
        values ('a', 'n', 'health', '*', ${state}, ${new Date(from ?? 0)}, ${to === null ? null : new Date(to)})`;
    }
    await sql`
      insert into recorder.health_absences (observer, started_at, ended_at, reason)
      values ('a', ${new Date(keptFrom - 9 * DAY + 60_000)}, ${new Date(keptFrom - 8 * DAY)}, 'off')`;
    const before = await queryRows('select * from reporting.node_incidents');
    await retain(sql, KEEP, until, never);
    expect(await queryRows('select * from reporting.node_incidents')).toEqual(before);
  });

  it('does not keep the ledger of a node because an observer that left never saw the node recover', async () => {
    const until = start + 200 * DAY;
    const write = (observer: string, ...states: readonly (readonly [string, number, number | null])[]) => sql`
      insert into recorder.node_health (observer, node, probe, check_name, state, started_at, ended_at)
      select ${observer}, 'n', 'health', '*', state, ${new Date(start)}::timestamptz + days * interval '1 day',
        ${new Date(start)}::timestamptz + until * interval '1 day'
      from jsonb_to_recordset(${JSON.stringify(states.map(([state, days, until]) => ({ state, days, until })))}::text::jsonb)
        as s(state text, days float8, until float8)`;
    for (const [observer, days] of [
      ['renamed', 0.002],
      ['stopped', 1],
      ['a', 200],
    ] as const) {
      await sql`insert into recorder.health_observers (observer, heartbeat_at) values (${observer}, ${new Date(start + days * DAY)})`;
      await sql`insert into recorder.health_probes (observer, node, probe, probes, probed_at) values (${observer}, 'n', 'health', 1, ${new Date(until)})`;
    }
    await write('renamed', ['up', 0, null]);
    await write('stopped', ['down', 0, 0.001], ['unknown', 0.001, 1]);
    await write('a', ['up', 1, 10], ['down', 10, 11], ['up', 11, 50], ['down', 50, 51], ['up', 51, null]);
    await retain(sql, { node_health: 30 * DAY }, until, never);
    const rows = await sql`select observer, state from recorder.node_health order by observer, started_at`;
    expect([...rows]).toEqual(['a', 'renamed'].map((observer) => ({ observer, state: 'up' })));
    // The incident of an observer that stopped while the node was down is open, and keeps its history.
    await sql`update recorder.node_health set state = 'down' where observer = 'renamed'`;
    await write('renamed', ['down', -1, 0]);
    await retain(sql, { node_health: 29 * DAY }, until, never);
    expect(await sql`select from recorder.node_health where observer = 'renamed'`).toHaveLength(2);
  });

  it('refuses the time before, instead of returning a wrong result', async () => {
    const rounds = fc.sample(round, { numRuns: ROUNDS, seed: 3 });
    const until = await recordRounds(rounds);
    const keptFrom = Math.floor((until - 90 * DAY) / DAY) * DAY;
    await retain(sql, KEEP, until, never);
    for (const name of ['validators', 'metric_points', 'p_blocks', 'chain_heights', 'node_health'])
      await expect(
        sql.unsafe(
          `select * from ${relationSql(`${recordedNamed(name)?.relation}_as_of`)}('${new Date(keptFrom - 1).toISOString()}')`,
        ),
        name,
      ).rejects.toMatchObject({
        message: `the state of ${name} at ${new Date(keptFrom - 1000).toISOString().slice(0, 19)}Z was removed by the retention`,
        hint: `rows are kept since ${new Date(keptFrom).toISOString().slice(0, 19)}.000000Z (retention in recorder.yaml)`,
      });
    // The earlier time is neither up nor down, and not observed: the window starts with the kept record.
    const uptime = (from: number, to: number) => sql`
      select up_seconds::float8 as up, down_seconds::float8 as down, since from reporting.node_uptime(${new Date(from)}, ${new Date(to)})`;
    expect([...(await uptime(start + DAY, start + 2 * DAY))]).toEqual([]);
    const firstIntervals = await sql<{ at: Date }[]>`
      select min(started_at) as at from recorder.node_health where check_name = '*' group by observer order by observer`;
    const uptimes = await uptime(start, until);
    expect(uptimes.map(({ since }) => since)).toEqual(firstIntervals.map(({ at }) => at));
    expect(uptimes).toHaveLength(3);
    for (const { up, down, since } of uptimes) {
      expect(since.getTime()).toBeGreaterThan(start + 2 * DAY);
      expect(up + down).toBeLessThanOrEqual((until - since.getTime()) / 1000);
    }
    const [first] = await sql`select min(range_start) as at from reporting.coverage`;
    expect(first?.at.getTime()).toBeGreaterThanOrEqual(keptFrom);
    const retentions =
      await sql`select dataset, kept_since, finished_at from reporting_internal.retention order by dataset`;
    expect(retentions).toHaveLength(5);
    for (const one of retentions)
      expect(one).toMatchObject({ kept_since: new Date(keptFrom), finished_at: new Date(until) });
  });

  it('reports the return of a subnet also if its removal is not kept', async () => {
    const clock = new ManualClock(start);
    const feed = scriptedFeed(
      subnets,
      { network: 'mainnet' },
      { confirmShrink: { observations: 1, minDuration: 0 } },
    );
    await registerTargets(sql, feed, clock.now, { recorder: 'recorder', digest: null });
    for (const ids of [['a', 'b'], ['a'], ['a'], ['a', 'b']]) {
      feed.script = () =>
        onlyPage({ subnets: ids.map((subnetId) => ({ subnetId, isL1: true, blockchains: [] })) });
      await run(recordingContext(sql, clock.read), feed);
      clock.now += 10 * DAY;
    }
    const keptFrom = new Date(start + 20 * DAY);
    const changesFrom = (from: Date) => sql`
      select at, subnet_id, change from reporting.l1_changes(${from}, ${new Date(clock.now)})`;
    const before = await changesFrom(keptFrom);
    expect(before).toEqual(
      ['appeared', 'converted'].map((change) => ({ at: new Date(start + 30 * DAY), subnet_id: 'b', change })),
    );
    expect(await retain(sql, { subnets: 20 * DAY }, clock.now, never)).toMatchObject([
      { keptSince: keptFrom, removed: 1 },
    ]);
    expect(await changesFrom(new Date(start))).toEqual(before);
  });

  it('leaves the stake of peers unknown if validators are not kept for as long as peers', async () => {
    const clock = new ManualClock(start);
    const primary = { node: 'n', subnetId: '11111111111111111111111111111111LpoYY' };
    const list = scriptedFeed(validators, primary, { confirmShrink: { observations: 1, minDuration: 0 } });
    list.script = () => onlyPage({ validators: [{ nodeID: 'a', startTime: 1, weight: 5 }] });
    const peerList = scriptedFeed(
      peers,
      { node: 'n' },
      { confirmShrink: { observations: 1, minDuration: 0 } },
    );
    peerList.script = () => onlyPage({ numPeers: '1', peers: [{ nodeID: 'a', version: 'v' }] });
    for (const feed of [list, peerList]) {
      await registerTargets(sql, feed, clock.now, { recorder: 'recorder', digest: null });
      await run(recordingContext(sql, clock.read), feed);
    }
    await retain(sql, { validators: 7 * DAY }, start + 9 * DAY, never);
    const versions = await sql`
      select day::text, stake::int, share_of_stake::int from reporting.peer_versions(${new Date(start)}, ${new Date(start + 4 * DAY)})`;
    expect(versions.map(({ day, stake, share_of_stake }) => [day.slice(8), stake, share_of_stake])).toEqual([
      ['01', null, null],
      ['02', null, null],
      ['03', 5, 1],
      ['04', 5, 1],
    ]);
  });

  it('is declared by every dataset that can lose rows permanently, and by no other', () => {
    const names = retainable.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['peer_readings', 'node_health', 'runs', 'quarantine']));
    // Polls show these however old they are: removed rows would return as new ones.
    for (const name of ['average_tps', 'genesis_data', 'native_transactions', 'erc1155_transfers'])
      expect(names).not.toContain(name);
  });
});

describe('removed rows', () => {
  const range: Range = {
    axis: 'time',
    span: () => 10 * DAY,
    head: () => 400 * DAY,
    settle: 0,
    lookback: 300 * DAY,
    ...(metricPoints.source.range?.index ? { index: metricPoints.source.range.index } : {}),
  };

  it('are neither a gap nor requested again, by a poll, a heal, a sweep or a backfill', async () => {
    const feed = scriptedFeed(
      metricPoints,
      { chainId: '1', metric: 'txCount', timeInterval: 'day' },
      { range, every: DAY },
    );
    const [target] = feed.targets;
    if (!target) throw new Error('no target');
    const now = start + 300 * DAY;
    await registerTargets(sql, feed, now - 200 * DAY, { recorder: 'recorder', digest: null });
    const key = 'chainId=1';
    await sql`
      insert into recorder.coverage (dataset, target_key, axis, covered)
      select 'metric_points', target_key, 'time', ${`{[${now - 290 * DAY},${now - 280 * DAY}),[${now - 100 * DAY},${now - 60 * DAY})}`}
      from recorder.target_datasets`;
    await sql`
      insert into recorder.gaps (dataset, target_key, axis, range, reason, noticed_at)
      select 'metric_points', target_key, 'time', r::int8range, 'why', now() from recorder.target_datasets,
        unnest(${[`[${now - 280 * DAY},${now - 200 * DAY})`, `[${now - 120 * DAY},${now - 80 * DAY})`]}::text[]) r`;
    await retain(sql, { metric_points: 90 * DAY }, now, never);
    const state = targetStateOf(await loadStates(sql, feed), target, 'metric_points');
    const keptFrom = now - 90 * DAY;
    expect(state.keptSince).toBe(keptFrom);
    expect(missingWindows(feed, target, state, now).every(({ from }) => from >= keptFrom)).toBe(true);
    expect(Math.min(...missingWindows(feed, target, state, now).map(({ from }) => from))).toBe(keptFrom);
    expect(
      findUncoveredWindows(feed, target, state, { from: start, to: now }).every(
        ({ from }) => from >= keptFrom,
      ),
    ).toBe(true);
    expect(findUncoveredWindows(feed, target, state, { from: start, to: keptFrom })).toEqual([]);
    for (let tick = now; tick < now + 30 * DAY; tick += DAY)
      expect(
        listSweepWindows(feed, target, { ...state, lastPolled: tick - DAY }, tick).every(
          ({ from }) => from >= keptFrom,
        ),
      ).toBe(true);
    const selectRanges = async (view: string) =>
      (
        await sql.unsafe<{ from: Date; to: Date }[]>(
          `select range_start as from, range_end as to from reporting.${view} order by 1`,
        )
      ).map(({ from, to }) => [(from.getTime() - now) / DAY, (to.getTime() - now) / DAY]);
    expect([key.length > 0, await selectRanges('coverage'), await selectRanges('gaps')]).toEqual([
      true,
      [[-90, -60]],
      [[-90, -80]],
    ]);
  });

  it('are not recorded again by polls of a list of all blocks', async () => {
    const clock = new ManualClock(start);
    const feed = withDefaultSettings({ source: nativeTransactions.source, datasets: [nativeTransactions] }, [
      { chainId: '1', address: '0x1' },
    ]);
    const transactions = [3, 2, 1].map((number) => ({
      ...nativeTransactions.example,
      blockNumber: String(number),
      blockTimestamp: start / 1000 - 1000 + number,
      txHash: `0x${number}`,
      chainId: '1',
      from: { address: '0x1' },
    }));
    const context = recordingContext(sql, clock.read, { get: async () => ({ transactions }) });
    await registerTargets(sql, feed, clock.now);
    for (let at = 0; at < 20; at++) {
      for (const job of planDue(feed, await loadStates(sql, feed), clock.now))
        await record(context, feed, job, never);
      clock.now += DAY;
      await retain(sql, { native_transactions: 7 * DAY }, clock.now, never);
    }
    const [{ added } = { added: 0 }] = await sql`
      select count(*)::int as added from reporting.changes() where dataset = 'native_transactions'`;
    expect(added).toBe(transactions.length);
  });

  it('stay removed and declared when seals of any size are verified; tampering is still detected', async () => {
    const until = start + 200 * DAY;
    await sql`
      insert into recorder.p_blocks (node, height, valid_from, run_id)
      select 'n', g, ${new Date(start)}::timestamptz + g * interval '1 minute', 1 from generate_series(1, 3000) g`;
    await sql`
      insert into recorder.p_blocks (node, height, valid_from, run_id)
      select 'n', g, ${new Date(until - DAY)}::timestamptz + g * interval '1 second', 1 from generate_series(3001, 3100) g`;
    const sealing = { databaseUrl: database.url, clock: () => until, key: undefined, signal: never };
    await sealUntil(sealing, until);
    await retain(sql, { p_blocks: 30 * DAY }, until, never);
    const verification = await verify({ databaseUrl: database.url });
    expect(verification).toMatchObject({ rows: 100, removed: 3000, differences: [], more: 0, broken: [] });
    expect(verification.declared).toMatchObject([{ dataset: 'p_blocks', kind: 'removed' }]);
    await sql`delete from recorder.p_blocks where height = 3050`;
    await sql`
      insert into recorder.p_blocks (node, height, valid_from, run_id)
      values ('n', 7, ${new Date(start + 7 * 60_000)}, 1), ('n', 8, ${new Date(start + 9 * 60_000)}, 1)`;
    await sql`update recorder.p_blocks set extra = '{"forged": 1}' where height = 7`;
    const tampered = await verify({ databaseUrl: database.url });
    expect(tampered.differences.map(({ what, at }) => [what, at.slice(0, 10)]).sort()).toEqual([
      ['changed', '2025-01-01'],
      ['gone', '2025-07-19'],
      ['moved', '2025-01-01'],
    ]);
  });
});

describe('the removal', () => {
  const insertBlocks = (table: string, count: number) => sql`
    insert into ${sql(`recorder.${table}`)} (node, height, valid_from, run_id)
    select 'n', g, ${new Date(start)}, 1 from generate_series(1, ${count}) g`;
  const countBlocks = async () => Number((await sql`select count(*) from recorder.p_blocks`)[0]?.count);
  const until = start + 100 * DAY;
  const keep = { p_blocks: 30 * DAY };

  it('continues after a stop and after its connection is killed, and runs once in two processes', async () => {
    await insertBlocks('p_blocks', 60_000);
    const pages = Number((await sql`select pg_relation_size('recorder.p_blocks') / 8192 as pages`)[0]?.pages);
    expect(pages).toBeGreaterThan(300);
    const stopped = new AbortController();
    stopped.abort();
    expect(await retain(sql, keep, until, stopped.signal)).toEqual([]);
    // Killed at any place: a row lock blocks its statement until the connection is closed.
    await retain(sql, keep, start + 20 * DAY, never);
    const other = postgres(database.url, {
      max: 1,
      onnotice: () => {},
      connection: { application_name: 'killed' },
    });
    const locker = postgres(database.url, { max: 1, onnotice: () => {} });
    await locker.unsafe('begin');
    await locker.unsafe('lock table recorder.p_blocks in exclusive mode');
    const killed = retain(other, keep, until, never).catch((error: unknown) => error);
    for (;;) {
      const [blocked] = await sql`
        select pid from pg_stat_activity where application_name = 'killed' and wait_event_type = 'Lock'`;
      if (!blocked) continue;
      await sql`select pg_terminate_backend(${blocked.pid})`;
      break;
    }
    await locker.unsafe('rollback');
    await killed;
    await other.end({ timeout: 1 });
    await locker.end({ timeout: 1 });
    // The start was stored first: every reader gets it already.
    const [interrupted] =
      await sql`select kept_since, finished_at, removed::int from reporting_internal.retention`;
    expect(interrupted).toMatchObject({ kept_since: new Date(until - 30 * DAY), finished_at: null });
    const both = await Promise.all([retain(sql, keep, until, never), retain(sql, keep, until, never)]);
    expect(both.flat().reduce((sum, { removed }) => sum + removed, 0) + Number(interrupted?.removed)).toBe(
      60_000,
    );
    expect(await countBlocks()).toBe(0);
    expect((await sql`select removed::int from reporting_internal.retention`)[0]?.removed).toBe(60_000);
  });

  it('keeps rows that a run changes meanwhile, and held rows for the next time', async () => {
    await insertBlocks('p_blocks', 100);
    const writer = postgres(database.url, { max: 1, onnotice: () => {} });
    await writer.unsafe('begin');
    await writer`update recorder.p_blocks set valid_to = ${new Date(until)} where height = 5`;
    await retain(sql, keep, until, never);
    await writer.unsafe('commit');
    await writer.end({ timeout: 1 });
    const remaining = await sql`select height, valid_to from recorder.p_blocks`;
    expect(remaining).toEqual([{ height: '5', valid_to: new Date(until) }]);
    await retain(sql, keep, until + DAY, never);
    expect(await countBlocks()).toBe(1);
    await retain(sql, keep, until + 40 * DAY, never);
    expect(await countBlocks()).toBe(0);
  });

  it('never moves the start back, whatever the clock and the configuration are', async () => {
    await retain(sql, keep, until, never);
    await retain(sql, { p_blocks: 90 * DAY }, until, never);
    await retain(sql, keep, until - 10 * DAY, never);
    expect(await sql`select kept_since from reporting_internal.retention`).toEqual([
      { kept_since: new Date(until - 30 * DAY) },
    ]);
  });

  it('of one dataset that fails affects no other, and is reported', async () => {
    await insertBlocks('p_blocks', 10);
    await sql`
      insert into recorder.quarantine (dataset, target_key, digest, run_id, quarantined_at, last_seen, observed_at, reason, item)
      values ('p_blocks', 't', 'd', 1, ${new Date(start)}, ${new Date(start)}, ${new Date(start)}, 'why', '{}')`;
    await sql.unsafe(`create function public.refuse() returns trigger language plpgsql as $$ begin raise 'not today'; end $$;
      create trigger refusing before delete on recorder.p_blocks execute function public.refuse()`);
    const warnings: object[] = [];
    const log = { info: () => {}, warn: (fields: object) => void warnings.push(fields) };
    const config = { retention: { p_blocks: 30 * DAY, quarantine: 30 * DAY } };
    const app = { databaseUrl: database.url, database: { sql }, config, clock: () => until, log };
    await applyRetention(app, never);
    expect(warnings).toEqual([{ dataset: 'p_blocks', cause: 'not today' }]);
    expect(await sql`select 1 from recorder.quarantine`).toHaveLength(0);
    await sql`drop function public.refuse cascade`;
    await applyRetention(app, never);
    expect([warnings.length, await countBlocks()]).toEqual([1, 0]);
  });

  it('uses the earlier of two clocks: one that is ahead removes nothing', async () => {
    await sql`
      insert into recorder.p_blocks (node, height, valid_from, run_id) values ('n', 1, now() - interval '10 days', 1)`;
    const tenYears = Date.now() + 3_650 * DAY;
    expect(await retain(sql, keep, tenYears, never)).toMatchObject([{ dataset: 'p_blocks', removed: 0 }]);
    expect(await countBlocks()).toBe(1);
    const [{ since } = { since: 0 }] = await sql<
      { since: Date }[]
    >`select kept_since as since from reporting_internal.retention`;
    expect(Number(since)).toBeLessThan(Date.now() - 29 * DAY);
  });

  it('includes runs and the quarantine if configured', async () => {
    await sql`
      insert into recorder.runs (source, target_key, datasets, reason, status, worker, started_at, finished_at, items, rows_written)
      select 's', 't', '{p_blocks}', 'poll', 'done', 'w', at, at, '{1}', '{1}'
      from unnest(${[new Date(start).toISOString(), new Date(until).toISOString()]}::text[]::timestamptz[]) at`;
    await sql`
      insert into recorder.quarantine (dataset, target_key, digest, run_id, quarantined_at, last_seen, observed_at, reason, item)
      select 'p_blocks', 't', at::text, 1, at, at, at, 'why', '{}' from unnest(${[new Date(start).toISOString(), new Date(until).toISOString()]}::text[]::timestamptz[]) at`;
    const removed = await retain(sql, { runs: 30 * DAY, quarantine: 30 * DAY }, until, never);
    expect(removed.map((one) => [one.dataset, one.removed])).toEqual([
      ['runs', 1],
      ['quarantine', 1],
    ]);
  });
});
