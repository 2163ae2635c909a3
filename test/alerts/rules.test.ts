import { beforeEach, describe, expect } from 'vitest';
import { defaultRules } from '../../src/alerts/default-rules.ts';
import { runRound } from '../../src/alerts/round.ts';
import type { RuleFacts, RuleFinding } from '../../src/alerts/rule.ts';
import { evaluateRule } from '../../src/alerts/rule-context.ts';
import { findRule, noFacts, testAlerts } from '../support/alerts.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
const PRIMARY = '11111111111111111111111111111111LpoYY';
const now = Date.now();
/** Returns the time this long ago, in ms. */
const ago = (ms: number) => new Date(now - ms);
const ahead = (ms: number) => new Date(now + ms);

const { it, database, sql } = withDatabase({ max: 2 });
beforeEach(async () => {
  await sql`truncate recorder.targets, recorder.target_datasets, recorder.schedules, recorder.health_observers, recorder.processes, recorder.exports, recorder.node_bindings,
    recorder.health_probes, recorder.node_health, recorder.gaps, recorder.coverage, recorder.quarantine, recorder.budgets,
    recorder.validators, recorder.validator_delegators, recorder.node_identity, recorder.validator_uptime, recorder.discrepancies,
    recorder.series_breaks, recorder.alert_rules, recorder.alert_channels, recorder.alert_messages, recorder.configurations, recorder.replicas`;
});

const put = (table: string, ...rows: readonly object[]) =>
  sql`insert into ${sql(`recorder.${table}`)} ${sql(rows.map((row) => ({ ...row })))}`;

/** A watched dataset with an old record. */
async function insertWatchedDataset(
  dataset: string,
  more: object = {},
  target: Record<string, string> = { node: 'n1' },
) {
  const target_key = Object.entries(target)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
  await put('targets', { source: dataset, target_key, target: sql.json(target) });
  await put('target_datasets', {
    ...{ source: dataset, target_key, dataset, every_ms: 3_600_000, active: true },
    ...{ requested_since: ago(100 * day), first_success_at: ago(100 * day), last_success_at: ago(minute) },
    ...{ last_complete_at: ago(minute), ...more },
  });
}

/** A ledger of the node `n1` that is settled up to now. */
async function insertLedger(
  ...intervals: readonly { state: string; from: number; to?: number; check?: string; error?: string }[]
) {
  await insertWatchedDataset('node_health', {}, { observer: 'recorder', node: 'n1', probe: 'health' });
  await put('health_observers', { observer: 'recorder', heartbeat_at: ago(0), lease_until: ahead(minute) });
  await put('health_probes', {
    observer: 'recorder',
    node: 'n1',
    probe: 'health',
    probes: 9,
    probed_at: ago(0),
  });
  for (const { state, from, to, check = '*', error } of intervals)
    await put('node_health', {
      ...{
        observer: 'recorder',
        node: 'n1',
        probe: 'health',
        check_name: check,
        state,
        error: error ?? null,
      },
      ...{ started_at: ago(from), ended_at: to === undefined ? null : ago(to), reported: true },
      failing_since: check !== '*' && state === 'down' ? ago(from + minute) : null,
    });
}

const validator = (more: object = {}) => ({
  ...{
    node: 'n1',
    subnet_id: PRIMARY,
    node_id: 'NodeID-1',
    start_time: ago(90 * day),
    end_time: ahead(90 * day),
  },
  ...{
    weight: '2000000000000',
    stake_navax: '2000000000000',
    valid_from: ago(90 * day),
    tx_id: 'tx1',
    run_id: 1,
  },
  ...more,
});

/** The validation of a node, as the node reports it. */
async function insertValidations(validators: readonly object[], uptime = 99) {
  for (const dataset of ['validators', 'validator_delegators', 'node_identity', 'validator_uptime'])
    await insertWatchedDataset(dataset);
  await put('node_identity', { node: 'n1', node_id: 'NodeID-1', valid_from: ago(90 * day), run_id: 1 });
  await put('validators', ...validators);
  await put('validator_uptime', {
    ...{ node: 'n1', subnet_id: PRIMARY, node_id: 'NodeID-1', uptime, connected: true, run_id: 1 },
    observed_at: ago(minute),
  });
}

async function evaluate(
  name: string,
  facts: Partial<RuleFacts> = {},
  at = new Date(now),
): Promise<readonly RuleFinding[]> {
  const result = await evaluateRule(findRule(name), at, {
    ...{ reader: sql, facts: { ...noFacts, ...facts }, past: false },
    signal: new AbortController().signal,
  });
  if ('error' in result) throw new Error(`${name}: ${result.error}`);
  return result.found;
}

/** A record in which a rule fires, and one in which it does not. */
interface RuleCase {
  readonly fires: () => PromiseLike<unknown>;
  readonly doesNotFire: () => PromiseLike<unknown>;
  readonly subjects: readonly string[];
  readonly summary: RegExp;
  readonly facts?: Partial<RuleFacts>;
  readonly quietFacts?: Partial<RuleFacts>;
}

const healthy = { state: 'up', from: 10 * day };
const outage = (down: number) => ({ state: 'down', from: down + minute, to: down });

const l1 = (balance: string, from: number, to: number | null) =>
  validator({
    ...{ subnet_id: 'L1', node_id: 'NodeID-2', tx_id: null, validation_id: 'v1', end_time: null, balance },
    stake_navax: null,
    ...{ valid_from: ago(from), valid_to: to === null ? null : ago(to) },
  });

const cases: Readonly<Record<string, RuleCase>> = {
  'node-down': {
    fires: () =>
      insertLedger(
        { ...healthy, to: 5 * minute },
        { state: 'down', from: 5 * minute, error: 'HTTP 503' },
        { state: 'down', from: 5 * minute, check: 'P', error: 'not bootstrapped' },
      ),
    doesNotFire: () => insertLedger({ state: 'down', from: 10 * day, to: day }, { state: 'up', from: day }),
    subjects: ['n1'],
    summary: /^n1 is down: P: not bootstrapped \(failing since 2\d{3}-.*Z by its own count\)$/,
  },
  'node-flapping': {
    fires: () =>
      insertLedger(...[50, 40, 30, 20].map((at) => outage(at * minute)), { state: 'up', from: 20 * minute }),
    doesNotFire: () =>
      insertLedger(...[500, 40, 30, 20].map((at) => outage(at * minute)), { state: 'up', from: 20 * minute }),
    subjects: ['n1'],
    summary: /^n1 went down 4 times within 60 minutes/,
  },
  'node-unobserved': {
    fires: () =>
      insertLedger({ ...healthy, to: 6 * minute }, { state: 'unknown', from: 6 * minute, error: 'HTTP 401' }),
    doesNotFire: () =>
      insertLedger({ ...healthy, to: 4 * minute }, { state: 'unknown', from: 4 * minute, error: 'HTTP 401' }),
    subjects: ['n1'],
    summary: /^n1 is not observed: HTTP 401$/,
  },
  'source-changed': {
    fires: async () => {
      await insertWatchedDataset('validators');
      await put('node_bindings', {
        node: 'n1',
        bound_by: 'first sight',
        bound_at: ago(hour),
        difference: 'another node: NodeID-B answers',
        differs_since: ago(minute),
      });
    },
    doesNotFire: async () => {
      await insertWatchedDataset('validators');
      await put('node_bindings', { node: 'n1', bound_by: 'first sight', bound_at: ago(hour) });
    },
    subjects: ['node n1'],
    summary: /another node: NodeID-B answers/,
  },
  'ledger-stalled': {
    fires: async () => {
      await insertLedger(healthy);
      await sql`update recorder.health_observers set heartbeat_at = ${ago(5 * hour)}, lease_until = ${ago(5 * hour)}`;
    },
    doesNotFire: () => insertLedger(healthy),
    subjects: ['ledger node_health recorder'],
    summary: /no process probes for this observer/,
  },
  'recording-stalled': {
    fires: () =>
      put('schedules', { schedule: 'plan x', every_ms: 60_000, next_at: ago(hour), seen_at: ago(0) }),
    doesNotFire: () =>
      put('schedules', { schedule: 'plan x', every_ms: 60_000, next_at: ahead(minute), seen_at: ago(0) }),
    subjects: ['schedule plan x'],
    summary: /the next job of the schedule is overdue/,
  },
  'dataset-late': {
    fires: () => insertWatchedDataset('validators', { last_success_at: ago(10 * hour) }),
    doesNotFire: () => insertWatchedDataset('validators'),
    subjects: ['validators'],
    summary: /^validators is late: node=n1: no run has succeeded/,
  },
  'dataset-incomplete': {
    fires: () =>
      insertWatchedDataset('validators', { incomplete_since: ago(hour), incomplete_reason: '1 of 7 items' }),
    doesNotFire: () =>
      insertWatchedDataset('validators', {
        incomplete_since: ago(hour),
        incomplete_reason: 'departures unconfirmed: 6 of 7 members are missing',
      }),
    subjects: ['validators'],
    summary: /^validators is incomplete: node=n1: 1 of 7 items/,
  },
  'list-unconfirmed': {
    fires: () =>
      insertWatchedDataset('validators', {
        incomplete_since: ago(hour),
        incomplete_reason: 'departures unconfirmed: 6 of 7 members are missing',
      }),
    doesNotFire: () =>
      insertWatchedDataset('validators', { incomplete_since: ago(hour), incomplete_reason: '1 of 7 items' }),
    subjects: ['validators'],
    summary: /lost most of its members: node=n1: departures unconfirmed: 6 of 7/,
  },
  'quarantine-growing': {
    fires: () => put('quarantine', quarantineRow(10 * minute)),
    doesNotFire: () => put('quarantine', quarantineRow(2 * hour)),
    subjects: ['validators'],
    summary: /^1 new item of validators in the quarantine, such as: weight: must be a number/,
  },
  'gap-open': {
    fires: () => insertCoverage('{[0,100),[200,300)}'),
    doesNotFire: () => insertCoverage('{[0,300)}'),
    subjects: ['metric_points'],
    summary: /^1 hole of metric_points could be fetched and are not/,
  },
  'gap-permanent': {
    fires: () => insertGap(hour),
    doesNotFire: () => insertGap(2 * day),
    subjects: [`p_blocks ${ago(hour).toISOString()}`],
    summary: /^a part of p_blocks is lost: node=n1.*: the node keeps less/,
  },
  'budget-nearly-spent': {
    fires: () => insertBudget(95),
    doesNotFire: () => insertBudget(50),
    facts: { budgets: [{ upstream: 'chainData', endpoint: 'x', perDay: 100 }] },
    quietFacts: { budgets: [{ upstream: 'chainData', endpoint: 'x', perDay: 100 }] },
    subjects: ['chainData'],
    summary: /^95 % of today's budget of chainData is used/,
  },
  'disk-full': {
    fires: async () => {},
    doesNotFire: async () => {},
    facts: { disk: async () => ({ database: 1, largest: [], perDay: 1e9, free: 10e9 }) },
    quietFacts: { disk: async () => ({ database: 1, largest: [], perDay: 1e9, free: 100e9 }) },
    subjects: ['the disk of the database'],
    summary: /^the disk is full in 10.0 days at the current growth/,
  },
  'validation-ending': {
    fires: () =>
      insertValidations([
        validator({ end_time: ahead(5 * day) }),
        validator({ node_id: 'NodeID-9', tx_id: 'tx9', end_time: ahead(day) }),
      ]),
    doesNotFire: () => insertValidations([validator({ end_time: ahead(50 * day) })]),
    subjects: ['tx1'],
    summary: /^the validation of n1 ends .*, in 5.0 days \(stake 2000.* AVAX\)/,
  },
  'reward-at-risk': {
    // Half of 180 days at 60.3 %: it may be down for a tenth of a day more.
    fires: () => insertValidations([validator()], 60.3),
    doesNotFire: () => insertValidations([validator()], 99),
    subjects: [`n1 ${ago(90 * day).toISOString()}`],
    summary: /^n1 may be down for \d+ minutes more until its reward is missed, as n1 sees it/,
  },
  'l1-balance-low': {
    fires: () => insertValidations([l1('8000000000', 2 * day, day), l1('7000000000', day, null)]),
    doesNotFire: () => insertValidations([l1('80000000000', 2 * day, day), l1('79000000000', day, null)]),
    subjects: ['v1'],
    summary: /^the balance of NodeID-2 on L1 \(7.* AVAX\) is used up .*, in 6.0 days/,
  },
  discrepancy: {
    fires: () => put('discrepancies', discrepancyRow({})),
    doesNotFire: () => put('discrepancies', discrepancyRow({ ended_at: ago(minute) })),
    subjects: ['metric_parts'],
    summary: /^1 discrepancy of metric_parts, the latest about chainId=1: hours: 5, days: 6/,
  },
  'series-break': {
    fires: () => put('series_breaks', seriesBreakRow(hour)),
    doesNotFire: () => put('series_breaks', seriesBreakRow(2 * day)),
    subjects: ['43114 txCount 2026-10-01'],
    summary: /^txCount of chain 43114 has another level since 2026-10-01: 2.0000 times/,
  },
  'export-failing': {
    fires: () => insertExport(4 * hour),
    doesNotFire: () => insertExport(2 * hour),
    subjects: ['export s3://lake'],
    summary: /^export s3:\/\/lake: no process with the role worker exports/,
  },
  'index-stalled': {
    fires: () => insertIndexedTarget(12 * hour),
    doesNotFire: () => insertIndexedTarget(9 * hour),
    subjects: ['index-stalled proposed_blocks chainData'],
    summary: /^index-stalled proposed_blocks chainData: the index returns no newer item for 1 target/,
  },
  'replica-behind': {
    fires: () => put('replicas', replicaRow('it gives no answer', ago(0))),
    doesNotFire: () => put('replicas', replicaRow('it gives no answer', ago(hour))),
    subjects: ['replica standby:5432/recorder'],
    summary: /^replica standby:5432\/recorder: it gives no answer/,
  },
  'alerting-failing': {
    fires: () => insertFailingChannel('running'),
    doesNotFire: () => insertFailingChannel('stopped'),
    subjects: ['alerts the channel ops'],
    summary: /the delivery failed: HTTP 503/,
  },
};

/** A target whose newest item is this old, with one block per hour. */
async function insertIndexedTarget(silence: number): Promise<void> {
  await put('targets', {
    ...{ source: 'proposed-blocks', target_key: 'node_id=1', target: { nodeId: '1' }, recorder: 'recorder' },
    ...{ index_name: 'chainData mainnet p-chain', newest_item_at: ago(silence) },
    ...{ usual_interval_ms: hour, longest_interval_ms: 3 * hour },
  });
  await put('target_datasets', {
    ...{ source: 'proposed-blocks', target_key: 'node_id=1', dataset: 'proposed_blocks', every_ms: 600_000 },
    ...{ active: true, requested_since: ago(100 * day), last_success_at: ago(0) },
  });
}

/** @param seenAt time of the last probe: a check without a current observer has no alerts */
const replicaRow = (error: string, seenAt: Date) => ({
  ...{ recorder: 'recorder', replica: 'standby:5432/recorder', error, error_since: ago(hour) },
  seen_at: seenAt,
});

const quarantineRow = (since: number) => ({
  ...{
    dataset: 'validators',
    target_key: 'node=n1',
    digest: 'd',
    run_id: 1,
    reason: 'weight: must be a number',
  },
  ...{ quarantined_at: ago(since), last_seen: ago(0), observed_at: ago(since), item: '{}' },
});

async function insertCoverage(covered: string) {
  await insertWatchedDataset('metric_points', { expected_from: 0 });
  await put('coverage', { dataset: 'metric_points', target_key: 'node=n1', axis: 'time', covered });
}

const insertGap = (noticed: number) =>
  put('gaps', {
    ...{ dataset: 'p_blocks', target_key: 'node=n1', axis: 'height', range: '[1,9)' },
    ...{ reason: 'the node keeps less', noticed_at: ago(noticed) },
  });

const insertBudget = (units: number) =>
  put('budgets', {
    ...{ upstream: 'chainData', endpoint: 'x', minute: ago(minute), minute_units: 0, day_units: units },
    day: new Date(now).toISOString().slice(0, 10),
  });

const discrepancyRow = (more: object) => ({
  ...{
    check_name: 'metric_parts',
    dataset: 'metric_points',
    subject: 'chainId=1',
    at: ago(day),
    tolerance: 'none',
  },
  ...{
    left_source: 'hours',
    left_value: '5',
    right_source: 'days',
    right_value: '6',
    found_at: ago(hour),
    ...more,
  },
});

const seriesBreakRow = (found: number) => ({
  ...{
    chain_id: '43114',
    metric: 'txCount',
    broke_at: '2026-10-01T00:00:00Z',
    level_before: 5,
    level_after: 10,
  },
  ...{ strength: 9, found_at: ago(found) },
});

/** A recorder that runs, with an hourly export that was configured this long ago and never made. */
async function insertExport(since: number) {
  await insertProcess('running');
  await put('exports', {
    ...{ recorder: 'recorder', destination: 's3://lake', format: 'parquet', every_ms: hour },
    requested_since: ago(since),
  });
}

async function insertFailingChannel(state: 'running' | 'stopped') {
  await insertProcess(state);
  await put('alert_channels', {
    recorder: 'recorder',
    channel: 'ops',
    failing_since: ago(hour),
    error: 'HTTP 503',
  });
}

async function insertProcess(state: 'running' | 'stopped') {
  await put('configurations', {
    recorder: 'recorder',
    digest: 'd',
    network: 'mainnet',
    newest: true,
    generation: 1,
    first_seen_at: ago(minute),
  });
  await put('processes', {
    ...{
      process: 'p',
      recorder: 'recorder',
      digest: 'd',
      roles: ['worker'],
      started_at: ago(minute),
      seen_at: ago(0),
    },
    left_at: state === 'stopped' ? ago(0) : null,
  });
}

describe('every default rule', () => {
  it('has a record in which it fires, and one in which it does not', () => {
    expect(Object.keys(cases).sort()).toEqual(defaultRules.map(({ name }) => name).sort());
  });

  it('returns no alert for an empty record, and never fails', async () => {
    for (const { name } of defaultRules) expect(await evaluate(name), name).toEqual([]);
  });

  it.each(Object.entries(cases))('fires: %s', async (name, { fires, facts, subjects, summary }) => {
    await fires();
    const found = await evaluate(name, facts);
    expect(found.filter(({ unknown }) => !unknown).map(({ subject }) => subject)).toEqual(subjects);
    expect(found[0]?.summary).toMatch(summary);
  });

  it.each(Object.entries(cases))('does not fire: %s', async (name, { doesNotFire, quietFacts }) => {
    await doesNotFire();
    expect(await evaluate(name, quietFacts)).toEqual([]);
  });
});

it('alerts on changing check names of a probe while they are recorded as one check', async () => {
  await insertLedger(healthy, { state: 'up', from: hour, check: '(more)' });
  const found = await evaluate('dataset-incomplete');
  expect(found.map(({ subject }) => subject)).toEqual(['node_health']);
  expect(found[0]?.summary).toMatch(/recorder n1 health: the node reports checks under more than 1000 names/);
  await sql`update recorder.node_health set ended_at = ${ago(minute)} where check_name = '(more)'`;
  expect(await evaluate('dataset-incomplete')).toEqual([]);
});

/** A node that goes down once, and reports other failing checks when it recovers. */
const restarted = [
  { ...healthy, to: 30 * minute },
  { state: 'down', from: 30 * minute, to: 28 * minute, error: 'ECONNREFUSED' },
  { state: 'down', from: 28 * minute, to: 26 * minute, error: 'failing: C, P, X' },
  { state: 'down', from: 26 * minute, to: 24 * minute, error: 'failing: C, X' },
];

describe('node-flapping', () => {
  it('counts how often a node went down, not how often the error changed while it was down', async () => {
    await insertLedger(
      ...restarted,
      { state: 'down', from: 24 * minute, to: 22 * minute, error: 'failing: C' },
      { state: 'up', from: 22 * minute },
    );
    expect(await evaluate('node-flapping')).toEqual([]);
  });

  it('has an unknown state while probes end without a response', async () => {
    const outages = [90, 80, 75, 70].map((at) => outage(at * minute));
    await insertLedger(...outages, {
      state: 'unknown',
      from: 70 * minute,
      error: 'the call failed (ENOTFOUND)',
    });
    expect(await evaluate('node-flapping', {}, ago(60 * minute))).toMatchObject([
      { summary: 'n1 went down 4 times within 60 minutes: no reason is reported', since: ago(91 * minute) },
    ]);
    expect(await evaluate('node-flapping')).toMatchObject([{ subject: 'n1', unknown: true }]);
  });
});

it('disk-full does not end because sealing stopped', async () => {
  const disk = async () => ({ database: 1, largest: [], perDay: null, free: 1e6 });
  expect(await evaluate('disk-full', { disk })).toMatchObject([
    { subject: 'the disk of the database', unknown: true },
  ]);
});

it('l1-balance-low does not end because the balance cannot be read any more', async () => {
  await insertValidations([l1('8000000000', 12 * day, 11 * day), l1('7000000000', 11 * day, null)]);
  expect(await evaluate('l1-balance-low', {}, ago(5 * day))).toMatchObject([
    { summary: expect.stringMatching(/in 1.0 days/) },
  ]);
  expect(await evaluate('l1-balance-low')).toMatchObject([{ subject: 'v1', unknown: true }]);
});

it('l1-balance-low calls a balance used up only if it was seen', async () => {
  await insertValidations([l1('8000000000', 6 * day, 5 * day), l1('1000000000', 5 * day, null)]);
  expect(await evaluate('l1-balance-low')).toMatchObject([
    {
      summary: expect.stringMatching(/\(1.0+ AVAX when last seen\) should be used up since 2/),
      severity: 'critical',
    },
  ]);
  await sql`update recorder.validators set balance = 0 where valid_to is null`;
  expect(await evaluate('l1-balance-low')).toMatchObject([
    { summary: expect.stringMatching(/^the balance of NodeID-2 on L1 is used up since 2/) },
  ]);
});

it.each<[string, string, object, string[]]>([
  ['node-down', 'n1', {}, ['n1']],
  ['node-down', 'n1 L1', {}, ['n1', 'health:L1']],
  ['node-flapping', 'n1', {}, ['n1']],
  ['node-unobserved', 'n1', {}, ['n1']],
  ['source-changed', 'node n1', {}, ['n1']],
  ['source-changed', 'target p_blocks node=n1', {}, ['p_blocks']],
  ['ledger-stalled', 'ledger node_health home n1 health', {}, ['node_health', 'home', 'n1', 'health']],
  ['dataset-late', 'validators', {}, ['validators']],
  ['budget-nearly-spent', 'metrics', {}, ['metrics']],
  ['validation-ending', 'tx1', { watched_as: 'n1' }, ['n1']],
  ['reward-at-risk', 'n1 2026-01-01T00:00:00.000Z', {}, ['n1']],
  ['l1-balance-low', 'v1', { subnet_id: 'L1' }, ['L1']],
])('%s: an alert about "%s" depends on configured names', (name, subject, details, names) => {
  expect(findRule(name).dependsOn?.({ subject, details })).toEqual(names);
});

describe('a rule that finds more subjects than it lists', () => {
  const numbers = Array.from({ length: 250 }, (_, at) => at + 1000);
  /** Subjects of which the rule keeps an open alert. */
  const evaluateSubjects = async (name: string) => (await evaluate(name)).map(({ subject }) => subject);

  it('keeps the alert of each: alerting-failing', async () => {
    await insertFailingChannel('running');
    const failing = { recorder: 'recorder', failing_since: ago(hour), error: 'HTTP 503' };
    await put('alert_channels', ...numbers.map((at) => ({ ...failing, channel: `a${at}` })));
    expect(await evaluateSubjects('alerting-failing')).toEqual(
      expect.arrayContaining(['alerts the channel ops', 'alerts the channel a1249', 'more']),
    );
  });

  it('keeps the alert of each: l1-balance-low', async () => {
    const withoutBalance = (validation_id: string) => ({
      ...l1('0', day, null),
      validation_id,
      node_id: validation_id,
    });
    await insertValidations(numbers.map((at) => withoutBalance(`v${at}`)));
    expect(await evaluateSubjects('l1-balance-low')).toEqual(
      expect.arrayContaining(['v1000', 'v1249', 'more']),
    );
  });
});

it('gap-permanent reports the loss of an outage once per dataset, whatever the number of targets', async () => {
  const start = Number(ago(hour));
  const gap = { dataset: 'validators', axis: 'time', range: '[1,9)', reason: 'the recorder was off' };
  for (const [at, target_key] of ['node=n1', 'node=n2', 'node=n3'].entries())
    await put('gaps', { ...gap, target_key, noticed_at: new Date(start + 25 * at * minute) });
  expect(await evaluate('gap-permanent')).toMatchObject([
    {
      subject: `validators ${new Date(start).toISOString()}`,
      summary: expect.stringMatching(
        /^a part of validators is lost: node=n3 and 2 more .*: the recorder was off$/,
      ),
    },
  ]);
  await sql`update recorder.gaps set reason = 'the runs failed' where target_key = 'node=n2'`;
  expect(await evaluate('gap-permanent')).toMatchObject([
    { summary: expect.stringMatching(/: the recorder was off; other reasons: 1$/) },
  ]);
});

describe('validation-ending', () => {
  it('needs no watched node ids: a configured node is enough', async () => {
    for (const dataset of ['validators', 'node_identity']) await insertWatchedDataset(dataset);
    await put('node_identity', { node: 'n1', node_id: 'NodeID-1', valid_from: ago(90 * day), run_id: 1 });
    const other = { node_id: 'NodeID-9', tx_id: 'tx9', end_time: ahead(day) };
    await put('validators', validator({ end_time: ahead(5 * day) }), validator(other));
    const found = await evaluate('validation-ending', { nodes: ['n1'] });
    expect(found.map(({ subject }) => subject)).toEqual(['tx1']);
  });

  it('is reported for each validator if transactions have no name', async () => {
    for (const dataset of ['validators', 'node_identity']) await insertWatchedDataset(dataset);
    const identity = (node: string, node_id: string) => ({
      node,
      node_id,
      valid_from: ago(90 * day),
      run_id: 1,
    });
    await put('node_identity', identity('n1', 'NodeID-1'), identity('n2', 'NodeID-2'));
    const without = { tx_id: null, end_time: ahead(day) };
    await put('validators', validator(without), validator({ ...without, node_id: 'NodeID-2' }));
    const found = await evaluate('validation-ending', { nodes: ['n1', 'n2'] });
    expect(found.map(({ subject }) => subject)).toEqual(['NodeID-1', 'NodeID-2']);
  });

  it('is reported once if several nodes list the validation', async () => {
    await insertValidations(['n1', 'n2'].map((node) => validator({ node, end_time: ahead(day) })));
    expect(await evaluate('validation-ending')).toMatchObject([{ subject: 'tx1', severity: 'critical' }]);
  });
});

describe('node-unobserved', () => {
  it('counts from the last known state, whatever was recorded since', async () => {
    await insertLedger(
      { ...healthy, to: 6 * minute },
      { state: 'unknown', from: 6 * minute, to: 2 * minute, error: 'HTTP 401' },
      { state: 'unknown', from: 2 * minute, error: 'the TLS handshake failed (CERT_HAS_EXPIRED)' },
    );
    expect(await evaluate('node-unobserved')).toMatchObject([
      { subject: 'n1', summary: expect.stringContaining('CERT_HAS_EXPIRED'), since: ago(6 * minute) },
    ]);
    expect(await evaluate('node-unobserved', {}, ago(2 * minute))).toEqual([]);
  });

  it('fires if no observer probes any more', async () => {
    await insertLedger(healthy);
    await sql`update recorder.health_observers set heartbeat_at = ${ago(hour)}`;
    expect(await evaluate('node-unobserved')).toMatchObject([{ subject: 'n1', since: ago(hour) }]);
  });

  it('does not fire after a restart for the time in which the recorder was off', async () => {
    await insertLedger(healthy);
    await sql`update recorder.health_observers set heartbeat_at = ${ago(hour)}`;
    const clock = new ManualClock(now);
    const alerts = testAlerts(database.url, clock, {}, { rules: [findRule('node-unobserved')] });
    const round = async () => (await runRound(alerts, new AbortController().signal))?.notices.length;
    expect(await round()).toBe(0);
    await put('health_absences', {
      observer: 'recorder',
      started_at: ago(hour),
      ended_at: ago(0),
      reason: 'the recorder was off',
    });
    await sql`update recorder.health_observers set heartbeat_at = ${ahead(10_000)}`;
    clock.now += 30_000;
    expect(await round()).toBe(0);
    // Nothing is probed after these ten seconds.
    const later: (number | undefined)[] = [];
    for (; clock.now < now + 8 * minute; later.push(await round())) clock.now += 30_000;
    expect(later.filter((notices) => notices === 1)).toHaveLength(1);
    await alerts.close();
  });

  it('does not count the time in which the configuration did not contain the node', async () => {
    await insertLedger({ ...healthy, to: hour }, { state: 'unknown', from: 6 * minute, error: 'HTTP 401' });
    expect(await evaluate('node-unobserved')).toMatchObject([{ subject: 'n1', since: ago(6 * minute) }]);
    expect(await evaluate('node-unobserved', {}, ago(2 * minute))).toEqual([]);
    expect(await evaluate('node-unobserved', {}, ago(30 * minute))).toEqual([]);
  });

  it('counts from the last known state of any observer', async () => {
    await insertLedger({ state: 'unknown', from: hour, error: 'HTTP 401' });
    await put('health_observers', { observer: 'other', heartbeat_at: ago(10 * minute) });
    const probe = { observer: 'other', node: 'n1', probe: 'health' };
    await put('health_probes', { ...probe, probes: 9, probed_at: ago(10 * minute) });
    await put('node_health', {
      ...{ ...probe, check_name: '*', state: 'up', reported: true },
      ...{ started_at: ago(2 * hour), ended_at: ago(10 * minute) },
    });
    expect(await evaluate('node-unobserved')).toMatchObject([{ subject: 'n1', since: ago(10 * minute) }]);
  });

  it('continues while a node moves from one observer to another', async () => {
    await insertLedger({ state: 'unknown', from: 2 * minute, error: 'HTTP 401' });
    await put('health_observers', { observer: 'other', heartbeat_at: ago(0) });
    const probe = { observer: 'other', node: 'n1', probe: 'health' };
    await put('health_probes', { ...probe, probes: 9, probed_at: ago(3 * minute) });
    await put('node_health', {
      ...{ ...probe, check_name: '*', state: 'unknown', reported: true },
      ...{ started_at: ago(hour), ended_at: ago(2.1 * minute) },
    });
    expect(await evaluate('node-unobserved')).toMatchObject([{ subject: 'n1', since: ago(hour) }]);
  });

  it('does not fire during announced maintenance', async () => {
    await insertLedger({ ...healthy, to: hour }, { state: 'maintenance', from: hour });
    expect(await evaluate('node-unobserved')).toEqual([]);
  });
});

describe('node-down', () => {
  it('has an unknown state while no observer probes', async () => {
    await insertLedger(healthy);
    await sql`update recorder.health_observers set heartbeat_at = ${ago(hour)}`;
    expect(await evaluate('node-down')).toMatchObject([{ subject: 'n1', unknown: true }]);
  });

  it('has an unknown state while probes end without a response, and is inactive during announced maintenance', async () => {
    const down = { state: 'down', from: hour, to: 10 * minute, error: 'HTTP 503' };
    await insertLedger(down, { state: 'unknown', from: 10 * minute, error: 'the call failed (ENOTFOUND)' });
    expect(await evaluate('node-down')).toMatchObject([{ subject: 'n1', unknown: true }]);
    await sql`update recorder.node_health set state = 'maintenance' where state = 'unknown'`;
    expect(await evaluate('node-down')).toEqual([]);
  });

  it('returns the alerts of a past moment when it is replayed', async () => {
    await insertLedger(
      { ...healthy, to: 3 * hour },
      { state: 'down', from: 3 * hour, to: 2 * hour, error: 'HTTP 503' },
      { state: 'up', from: 2 * hour },
    );
    expect(await evaluate('node-down', {}, ago(2.5 * hour))).toMatchObject([
      { subject: 'n1', summary: 'n1 is down: HTTP 503', since: ago(3 * hour) },
    ]);
    expect(await evaluate('node-down', {}, ago(hour))).toEqual([]);
    expect(await evaluate('node-down', {}, ago(20 * day))).toEqual([]);
  });

  it('states when the node went down, also if the first error was another one', async () => {
    await insertLedger(...restarted, { state: 'down', from: 24 * minute, error: 'failing: C' });
    expect(await evaluate('node-down')).toMatchObject([
      { summary: 'n1 is down: failing: C', since: ago(30 * minute) },
    ]);
    expect(await evaluate('node-down', {}, ago(27 * minute))).toMatchObject([
      { summary: 'n1 is down: failing: C, P, X', since: ago(30 * minute) },
    ]);
  });

  it('returns no alert for nodes that are not configured any more', async () => {
    await insertLedger({ state: 'down', from: hour, error: 'HTTP 503' });
    expect(await evaluate('node-down', { nodes: ['n2'] })).toEqual([]);
  });
});
