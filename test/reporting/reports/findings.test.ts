import { beforeEach, describe, expect } from 'vitest';
import { budgetKey } from '../../../src/db/budget-key.ts';
import { SharedBudget } from '../../../src/db/shared-budget.ts';
import { storeSchedules } from '../../../src/jobs/schedule-states.ts';
import { describeFinding, findingGroups } from '../../../src/reporting/reports/findings.ts';
import { statusOf } from '../../../src/reporting/reports/status.ts';
import { recordingSamples } from '../../../src/server/metrics/recorder-metrics.ts';
import { exposition } from '../../../src/server/metrics/samples.ts';
import { withDatabase } from '../../support/fixture.ts';

const { it, sql } = withDatabase({ max: 5 });
beforeEach(async () => {
  await sql`truncate recorder.targets, recorder.target_datasets, recorder.schedules, recorder.health_observers,
    recorder.health_probes, recorder.gaps`;
});

/** The state of a target; times are seconds ago. The interval is 1,000 s. */
interface TargetState {
  readonly dataset?: string;
  readonly key?: string;
  readonly target?: Readonly<Record<string, string>>;
  readonly every?: number;
  readonly requested?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly failures?: number;
  readonly incomplete?: number;
  readonly once?: boolean;
  readonly active?: boolean;
  readonly unsupported?: string;
}

const ago = (seconds: number | undefined) =>
  seconds === undefined ? null : new Date(Date.now() - seconds * 1000);

async function insertTarget(one: TargetState): Promise<void> {
  const { dataset = 'subnets', key = 'network=mainnet', target = { network: 'mainnet' } } = one;
  await sql`insert into recorder.targets (source, target_key, target) values (${dataset}, ${key}, ${sql.json(target)})`;
  await sql`
    insert into recorder.target_datasets (source, target_key, dataset, every_ms, once, active, requested_since, last_success_at,
      last_complete_at, incomplete_since, incomplete_reason, last_failure_at, failures, last_error, unsupported_reason)
    values (${dataset}, ${key}, ${dataset}, ${(one.every ?? 1000) * 1000}, ${one.once ?? false}, ${one.active ?? true},
      ${ago(one.requested ?? 1_000_000)}, ${ago(one.succeeded)}, ${ago(one.succeeded)}, ${ago(one.incomplete)},
      ${one.incomplete === undefined ? null : '1 of 7 items could not be read'}, ${ago(one.failed)}, ${one.failures ?? 0},
      ${one.failed === undefined ? null : 'HTTP 503'}, ${one.unsupported ?? null})`;
}

/** The findings of targets. */
const targetFindings = async () =>
  (await findingGroups(sql)).filter(({ component }) => component === 'target');

describe('a target', () => {
  it.each<[string, TargetState, string | null, RegExp?]>([
    ['recorded lately', { succeeded: 10 }, null],
    ['recorded just within three intervals', { succeeded: 2_900 }, null],
    ['not recorded for more than three intervals', { succeeded: 3_100 }, 'late', /no run has succeeded/],
    ['brand-new', { requested: 10 }, null],
    ['new for less than three intervals', { requested: 2_900 }, null],
    ['never recorded since it was configured', { requested: 3_100 }, 'late', /no run has succeeded yet/],
    ['configured again a moment ago', { succeeded: 900_000, requested: 10 }, null],
    ['whose last run failed', { succeeded: 900, failed: 5, failures: 1 }, 'failing', /HTTP 503/],
    ['whose first run failed', { requested: 30, failed: 5, failures: 1 }, 'failing', /HTTP 503/],
    ['that failed until it was late', { succeeded: 9_000, failed: 5, failures: 9 }, 'late', /HTTP 503/],
    ['that failed once and was recorded since', { succeeded: 5, failed: 900 }, null],
    ['that lacks an item', { succeeded: 5, incomplete: 600_000 }, 'incomplete', /1 of 7 items/],
    ['that its upstream does not offer', { failed: 50_000, unsupported: 'no such method' }, null],
    ['that never changes and is there', { succeeded: 900_000, once: true }, null],
    ['that never changes and is not there', { requested: 3_100, once: true }, 'late'],
    ['that is not configured any more', { succeeded: 900_000, active: false }, null],
    ['recorded by a clock that is ahead', { succeeded: -50_000 }, null],
  ])('has the expected finding: %s', async (_, one, state, reason) => {
    await insertTarget(one);
    const groups = await targetFindings();
    expect(groups.map((group) => group.state)).toEqual(state === null ? [] : [state]);
    if (reason) expect(groups[0]?.reason).toMatch(reason);
  });

  it('is counted with others of its kind, of which the oldest is shown', async () => {
    for (const [key, succeeded] of [
      ['chain=1', 5_000],
      ['chain=2', 7_000],
      ['chain=3', 10],
    ] as const)
      await insertTarget({ key, succeeded });
    expect(await targetFindings()).toMatchObject([
      { state: 'late', dataset: 'subnets', subject: 'chain=2', count: 2 },
    ]);
    expect(await statusOf(sql, [])).toMatchObject({
      late_targets: 2,
      failing_targets: 0,
      incomplete_targets: 0,
    });
  });
});

describe('an allowance', () => {
  it('is reported once an upstream, by the current URL', async () => {
    const now = Date.now();
    const limits = { perMinute: 100, perDay: undefined };
    const key = (url: string) => budgetKey('chainData', url, undefined);
    const [was, is] = [key('http://before.example'), key('http://after.example')];
    await new SharedBudget(sql, was, limits, () => now).block(600_000, 'retry-after: 600');
    expect((await statusOf(sql, [was])).budgets).toMatchObject([
      { upstream: 'chainData', blocked_until: expect.any(Date), blocked_by: 'retry-after: 600' },
    ]);
    expect((await statusOf(sql, [is])).budgets).toEqual([]);
    await new SharedBudget(sql, is, limits, () => now).take(7, 'poll', new AbortController().signal);
    const status = await statusOf(sql, [is]);
    expect(status.budgets).toEqual([
      { upstream: 'chainData', minute_units: 7, day_units: 7, blocked_until: null, blocked_by: null },
    ]);
    expect(exposition(recordingSamples(status))).toContain(
      'chain_recorder_upstream_rate_limited{upstream="chainData"} 0',
    );
  });
});

const observedTarget = (more: TargetState): TargetState => ({
  dataset: 'node_health',
  every: 10,
  key: 'node=one observer=eyes probe=health',
  target: { observer: 'eyes', node: 'one', probe: 'health' },
  ...more,
});
const insertProbe = (seconds: number) =>
  sql`insert into recorder.health_probes (observer, node, probe, probes, probed_at)
    values ('eyes', 'one', 'health', 1, ${ago(seconds)})`;
const heartbeat = (seconds: number, isLeased: boolean) =>
  sql`insert into recorder.health_observers (observer, holder, lease_until, heartbeat_at)
    values ('eyes', ${isLeased ? 'me' : null}, ${ago(isLeased ? -5 : seconds)}, ${ago(seconds)})`;

describe('a ledger', () => {
  it('that advances is healthy', async () => {
    await insertTarget(observedTarget({}));
    await Promise.all([insertProbe(5), heartbeat(2, true)]);
    expect(await findingGroups(sql)).toEqual([]);
  });

  it('without a process is stalled, and its probes are late', async () => {
    await insertTarget(observedTarget({}));
    await Promise.all([insertProbe(120), heartbeat(120, false)]);
    expect(await findingGroups(sql)).toMatchObject([
      {
        state: 'stalled',
        component: 'ledger',
        subject: 'eyes',
        reason: expect.stringMatching('no process probes for this observer'),
      },
      { state: 'late', component: 'target', dataset: 'node_health' },
    ]);
  });

  it('that never started is stalled a minute after it was first configured', async () => {
    await insertTarget(observedTarget({ requested: 20 }));
    expect((await findingGroups(sql)).filter(({ component }) => component === 'ledger')).toEqual([]);
    await sql`update recorder.target_datasets set requested_since = ${ago(70)}`;
    expect(await findingGroups(sql)).toMatchObject([{ component: 'ledger' }, { state: 'late' }]);
  });

  it('that is leased and settles nothing is stalled, though its nodes are observed', async () => {
    await insertTarget(observedTarget({}));
    await Promise.all([insertProbe(5), heartbeat(90, true)]);
    expect(await findingGroups(sql)).toMatchObject([
      { component: 'ledger', reason: expect.stringMatching('does not update the ledger') },
    ]);
  });
});

describe('a probe', () => {
  it('with rows that the database refuses is stalled, and the others are not', async () => {
    await insertTarget(observedTarget({}));
    await Promise.all([insertProbe(5), heartbeat(2, true)]);
    const refused = [{ node: 'one', probe: 'health', since: ago(40), reason: 'value too long' }];
    await sql`update recorder.health_observers set refused = ${sql.json(refused)}`;
    expect(await findingGroups(sql)).toMatchObject([
      { state: 'stalled', component: 'ledger', subject: 'eyes one health', reason: 'value too long' },
    ]);
    await sql`update recorder.target_datasets set active = false`;
    expect(await findingGroups(sql)).toEqual([]);
  });
});

describe('a schedule', () => {
  it.each<[string, { next?: number; missing?: number; checked: number }, RegExp | null]>([
    ['that ticks', { next: -500, checked: 5 }, null],
    ['whose tick is a little late', { next: 900, checked: 5 }, null],
    ['whose tick is an interval late', { next: 1_100, checked: 5 }, /overdue/],
    ['that the queue lost a moment ago', { missing: 20, checked: 5 }, null],
    ['that the queue does not have', { missing: 70, checked: 5 }, /missing in the queue/],
    ['that was not checked for long', { next: -500, checked: 3_100 }, /no process runs the schedules/],
  ])('%s', async (_, { next, missing, checked }, reason) => {
    await sql`insert into recorder.schedules (recorder, schedule, every_ms, next_at, missing_since, seen_at)
      values ('recorder', 'plan subnets', 1000000, ${ago(next)}, ${ago(missing)}, ${ago(checked)})`;
    const groups = await findingGroups(sql);
    expect(groups).toMatchObject(
      reason ? [{ state: 'stalled', component: 'schedule', reason: expect.stringMatching(reason) }] : [],
    );
    expect((await statusOf(sql, [])).stalled).toBe(reason ? 1 : 0);
  });
});

it('a schedule of a recorder without targets is deleted by the next check of another recorder', async () => {
  await sql`insert into recorder.schedules (recorder, schedule, every_ms, next_at, seen_at)
    values ('stopped', 'alerts of stopped', 30000, ${ago(3_000)}, ${ago(3_100)})`;
  expect(await findingGroups(sql)).toMatchObject([{ component: 'schedule' }]);
  const now = Date.now();
  await storeSchedules(sql, 'recorder', [{ schedule: 'alerts', every: 30_000, next: now }], now);
  expect(await findingGroups(sql)).toEqual([]);
});

describe('commits', () => {
  it('are stalled when nothing was committed for three of the shortest intervals', async () => {
    await insertTarget({ succeeded: 250, every: 100 });
    await insertTarget({ dataset: 'blockchains', key: 'b', succeeded: 3_500, every: 50_000 });
    expect((await findingGroups(sql)).filter(({ component }) => component === 'commits')).toEqual([]);
    await sql`update recorder.target_datasets set last_success_at = last_success_at - interval '100 seconds'`;
    expect((await findingGroups(sql)).map(({ state, component }) => [state, component])).toEqual([
      ['stalled', 'commits'],
      ['late', 'target'],
    ]);
  });

  it('continue if runs fail', async () => {
    await insertTarget({ succeeded: 5_000, failed: 20, failures: 9, every: 100 });
    expect((await findingGroups(sql)).map(({ component }) => component)).toEqual(['target']);
  });
});

describe('the sealing', () => {
  const days = 86_400;
  beforeEach(() => sql`truncate recorder.configurations, recorder.seals`);
  const insertConfiguration = (seconds: number) => sql`
    insert into recorder.configurations (recorder, digest, network, generation, newest, first_seen_at)
    values ('recorder', 'd', 'mainnet', 1, true, ${ago(seconds)})`;
  const insertSeal = (seal: number, until: number, error: string | null = null) => sql`
    insert into recorder.seals (seal, until, began_at, open, made_at, statement, head, error)
    values (${seal}, ${ago(until)}, ${ago(until)}, '{}', ${error === null ? ago(until) : null}, 's', 'h', ${error})`;

  it('that is not configured is not stalled', async () => {
    expect(await findingGroups(sql)).toEqual([]);
    await insertConfiguration(2 * days);
    expect(await findingGroups(sql)).toEqual([]);
  });

  it('is stalled if no seal was made for three days, with the reason', async () => {
    await insertConfiguration(4 * days);
    expect(await findingGroups(sql)).toMatchObject([
      { state: 'stalled', component: 'seals', reason: expect.stringMatching(/role scheduler/) },
    ]);
    await insertSeal(1, 2.9 * days);
    expect(await findingGroups(sql)).toEqual([]);
    await sql`update recorder.seals set until = ${ago(3.1 * days)}`;
    await insertSeal(2, 1 * days, 'no space left on device');
    expect((await findingGroups(sql)).map((group) => describeFinding(group))).toEqual([
      expect.stringMatching(/^stalled since .*: the seals of the record: sealing failed: no space left/),
    ]);
    const status = await statusOf(sql, []);
    expect(status).toMatchObject({ stalled: 1, seal: { seal: 1, head: 'h', signed: false } });
    expect(exposition(recordingSamples(status))).toMatch(
      /chain_recorder_sealed_until_timestamp_seconds \d{10}/,
    );
  });
});

describe('the packing of readings', () => {
  it('is stalled if a poll of days ago is not packed, and is reported with its dataset', async () => {
    const insertPoll = (days: number) => sql`
      with scope as (
        insert into recorder.reading_scopes (dataset, request) values ('recorder.chain_heights', ${[`node-${days}`, 'X']}) returning scope_id)
      insert into recorder.reading_open (dataset, scope_id, observed_at, run_id, base, mode, start, present, bits)
      select 'recorder.chain_heights', scope_id, ${ago(days * 86_400)}, 1, '{7}', '{0}', '{0}', '1', '' from scope`;
    const readingFindings = async () =>
      (await findingGroups(sql)).filter(({ component }) => component === 'readings');
    await insertPoll(2.9);
    expect(await readingFindings()).toEqual([]);
    await insertPoll(3.1);
    expect(await readingFindings()).toMatchObject([
      {
        state: 'stalled',
        component: 'readings',
        dataset: 'chain_heights',
        subject: 'node-3.1, X',
        reason: expect.stringMatching(/role scheduler/),
      },
    ]);
    await sql`truncate recorder.reading_scopes, recorder.reading_open`;
  });
});

describe('status', () => {
  it('and reporting.gaps agree on the number of gaps', async () => {
    await insertTarget({ succeeded: 5 });
    await sql`insert into recorder.gaps (dataset, target_key, axis, range, reason, noticed_at)
      values ('subnets', 'network=mainnet', 'time', '[1,5)', 'off', now())`;
    await insertTarget(observedTarget({}));
    await Promise.all([insertProbe(5), heartbeat(2, true)]);
    await sql`insert into recorder.node_health (observer, node, probe, check_name, state, reported, started_at, probes_before)
      values ('eyes', 'one', 'health', '*', 'up', true, ${ago(5_000)}, 0)`;
    await sql`insert into recorder.health_absences values ('eyes', ${ago(900)}, ${ago(800)}, 'off')`;
    const [gaps] = await sql`select count(*)::int as gaps from reporting.gaps`;
    expect(gaps).toEqual({ gaps: 2 });
    expect(await statusOf(sql, [])).toMatchObject(gaps ?? {});
  });
});

describe('an index', () => {
  /** A target whose items appear once an hour. Times are hours before the last poll, which was just now. */
  async function insertIndexedTarget(
    key: string,
    silence: number,
    { index = 'chainData mainnet p-chain', usual = 1, longest = 2, dataset = 'proposed_blocks' } = {},
  ): Promise<void> {
    const hour = 3_600_000;
    await insertTarget({ dataset, key, succeeded: 10 });
    await sql`
      update recorder.targets set index_name = ${index}, usual_interval_ms = ${usual * hour},
        longest_interval_ms = ${longest * hour}, newest_item_at = ${ago(10 + silence * 3600)}
      where target_key = ${key}`;
  }
  const stalls = async () =>
    (await findingGroups(sql))
      .filter(({ component }) => component === 'index-stalled')
      .map((one) => [one.subject, one.count]);

  it('that shows new items, or stopped for a usual time, is no finding', async () => {
    await insertIndexedTarget('one', 1);
    await insertIndexedTarget('two', 9.9);
    await insertIndexedTarget('three', 20, { longest: 7 });
    await insertIndexedTarget('four', 200, { usual: 24 });
    expect(await stalls()).toEqual([]);
  });

  it('is one finding for its service if all stopped, and one for itself if it stopped alone', async () => {
    const x = { index: 'chainData mainnet x-chain' };
    await insertIndexedTarget('one', 30);
    await insertIndexedTarget('two', 31);
    // Too early to decide.
    await insertIndexedTarget('rare', 40, { usual: 24, longest: 30 });
    expect(await stalls()).toEqual([['chainData', 1]]);
    await insertIndexedTarget('other chain', 1, x);
    expect(await stalls()).toEqual([['chainData mainnet p-chain', 1]]);
    await insertIndexedTarget('third', 1);
    expect(new Set((await stalls()).map(([subject]) => subject))).toEqual(new Set(['two']));
    const [group] = (await findingGroups(sql)).filter(({ component }) => component === 'index-stalled');
    expect([group?.count, group && describeFinding(group)]).toEqual([
      2,
      expect.stringMatching(
        /^stalled since .*: index-stalled two \(and 1 more\): the index returns no newer item for 1 target, whose usual interval between items is 01:00:00/,
      ),
    ]);
  });

  it('that is silent for more than 30 days, or whose targets are not polled any more, is no finding', async () => {
    await insertIndexedTarget('quiet', 31 * 24);
    await insertIndexedTarget('unwatched', 40);
    await sql`update recorder.target_datasets set active = false where target_key = 'unwatched'`;
    await insertIndexedTarget('late', 1);
    await sql`update recorder.target_datasets set last_success_at = last_success_at - interval '10 days' where target_key = 'late'`;
    await sql`update recorder.targets set newest_item_at = newest_item_at - interval '10 days' where target_key = 'late'`;
    expect(await stalls()).toEqual([]);
  });
});
