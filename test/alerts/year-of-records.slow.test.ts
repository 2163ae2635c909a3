import { expect } from 'vitest';
import { replayRules } from '../../src/alerts/replay.ts';
import type { Alert } from '../../src/alerts/state.ts';
import { testAlerts } from '../support/alerts.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { createRandom } from '../support/random.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DAYS = 365;
const start = Date.UTC(2025, 0, 1);
const PRIMARY = '11111111111111111111111111111111LpoYY';
const at = (days: number) => new Date(start + days * DAY);

const { it, database, sql } = withDatabase({ max: 2 });

const random = createRandom(20_250_101);

/** The expected incidents: the rule, reported once, and the start in days. */
interface Incident {
  readonly rule: string;
  readonly from: number;
  readonly to: number;
}

const put = async (table: string, rows: readonly object[]) => {
  for (let from = 0; from < rows.length; from += 500)
    await sql`insert into ${sql(`recorder.${table}`)} ${sql(rows.slice(from, from + 500).map((row) => ({ ...row })))}`;
};

async function insertWatchedDatasets(...datasets: readonly string[]): Promise<void> {
  for (const dataset of datasets) {
    await put('targets', [{ source: dataset, target_key: 'node=n1', target: sql.json({ node: 'n1' }) }]);
    await put('target_datasets', [
      {
        ...{ source: dataset, target_key: 'node=n1', dataset, every_ms: 3_600_000, active: true },
        ...{
          requested_since: at(-9),
          first_success_at: at(-8),
          last_success_at: at(DAYS),
          last_complete_at: at(DAYS),
        },
      },
    ]);
  }
}

/** An upstream changed a field: for some days each poll returns an item that cannot be decoded. */
async function insertQuarantines(): Promise<Incident[]> {
  const incidents = [20, 75, 140, 200, 260, 330].map((from, number) => ({
    ...{ rule: 'quarantine-growing', from, to: from + 1 + (number % 3) },
  }));
  await put(
    'quarantine',
    incidents.flatMap(({ from, to }, number) =>
      Array.from({ length: (to - from) * 12 }, (_, poll) => ({
        ...{
          dataset: 'validators',
          target_key: 'node=n1',
          digest: `d${number}-${poll}`,
          run_id: 1,
          item: '{}',
        },
        ...{ reason: 'weight: must be a number', quarantined_at: at(from + poll / 12) },
        ...{ last_seen: at(from + poll / 12), observed_at: at(from + poll / 12) },
      })),
    ),
  );
  return incidents;
}

/** The recorder was off: it detects the targets of two datasets one after the other, for up to 25 minutes. */
async function insertGaps(): Promise<Incident[]> {
  const outages = [33, 90, 151, 240, 301];
  await put(
    'gaps',
    outages.flatMap((from) =>
      ['validators', 'peer_readings'].flatMap((dataset) =>
        Array.from({ length: 20 }, (_, target) => ({
          ...{ dataset, target_key: `node=n${target}`, axis: 'time', reason: 'the recorder was off' },
          range: `[${at(from - 0.1).getTime()},${at(from).getTime()})`,
          noticed_at: at(from + (target * 75_000) / DAY),
        })),
      ),
    ),
  );
  return outages.flatMap((from) => [
    { rule: 'gap-permanent', from, to: from + 1 },
    { rule: 'gap-permanent', from, to: from + 1 },
  ]);
}

/** Sources contradict each other for days, or for one check, until the next one finds that they agree. */
async function insertDiscrepancies(): Promise<Incident[]> {
  const discrepancies = [
    ...[50, 170, 290].map((from) => ({ from, to: from + 2 })),
    ...[12, 110, 222, 340].map((from) => ({ from, to: from + 0.25 })),
  ];
  await put(
    'discrepancies',
    discrepancies.map(({ from, to }) => ({
      ...{ check_name: 'metric_parts', dataset: 'metric_points', subject: 'chainId=1', tolerance: 'none' },
      ...{ left_source: 'hours', left_value: '5', right_source: 'days', right_value: '6' },
      ...{ at: at(from - 1), found_at: at(from), ended_at: at(to) },
    })),
  );
  return discrepancies
    .filter(({ from, to }) => to - from > 1)
    .map((one) => ({ rule: 'discrepancy', ...one }));
}

async function insertSeriesBreaks(): Promise<Incident[]> {
  const seriesBreaks = [100, 280].map((from) => ({ rule: 'series-break', from, to: from + 1 }));
  await put(
    'series_breaks',
    seriesBreaks.map(({ from }) => ({
      ...{ chain_id: '43114', metric: 'txCount', level_before: 5, level_after: 10, strength: 9 },
      ...{ broke_at: at(from - 21), found_at: at(from) },
    })),
  );
  return seriesBreaks;
}

/**
 * Three validations of 120 days, in the second of which the node is off for three and a half weeks; and an L1 whose
 * validator is topped up whenever a week is left.
 */
async function insertValidations(): Promise<Incident[]> {
  await insertWatchedDatasets('validators', 'validator_delegators', 'node_identity', 'validator_uptime');
  await put('node_identity', [{ node: 'n1', node_id: 'NodeID-1', valid_from: at(-9), run_id: 1 }]);
  const starts = [-5, 116, 237];
  const validatorRow = (more: object) => ({
    ...{ node: 'n1', subnet_id: PRIMARY, node_id: 'NodeID-1', weight: '2000000000000', run_id: 1 },
    ...{
      start_time: at(-9),
      end_time: null,
      tx_id: null,
      validation_id: null,
      balance: null,
      valid_to: null,
      ...more,
    },
  });
  await put(
    'validators',
    starts.map((from, number) =>
      validatorRow({
        ...{ start_time: at(from), end_time: at(from + 120), tx_id: `tx${number}` },
        ...{ valid_from: at(from), valid_to: at(from + 120) },
      }),
    ),
  );
  await put(
    'validator_uptime',
    starts.flatMap((from, number) =>
      Array.from({ length: 240 }, (_, index) => {
        const elapsed = (index + 1) / 2;
        const down = number === 1 ? Math.min(Math.max(elapsed - 40, 0), 23.5) : 0.01 * elapsed;
        const uptime = Math.round((1 - down / elapsed) * 1_000_000 + random() * 200) / 10_000;
        return {
          ...{ node: 'n1', subnet_id: PRIMARY, node_id: 'NodeID-1', connected: true, run_id: 1 },
          ...{ uptime: Math.min(uptime, 100), observed_at: at(from + elapsed) },
        };
      }),
    ),
  );
  const topUps: number[] = [];
  let balance = 40_000;
  const balances = Array.from({ length: DAYS * 4 }, (_, index) => {
    balance -= 1_000 * (0.6 + 0.8 * random()) * 0.25;
    if (balance < 7_000) {
      balance += 40_000;
      topUps.push(index / 4);
    }
    return { from: index / 4, balance };
  });
  await put(
    'validators',
    balances.map(({ from, balance: remaining }, index) =>
      validatorRow({
        ...{
          subnet_id: 'L1',
          node_id: 'NodeID-2',
          validation_id: 'v1',
          balance: String(Math.round(remaining * 1e6)),
        },
        ...{ valid_from: at(from), valid_to: index + 1 < balances.length ? at(from + 0.25) : null },
      }),
    ),
  );
  return [
    ...starts.flatMap((from) => ({ rule: 'validation-ending', from: from + 106, to: from + 120 })),
    { rule: 'reward-at-risk', from: 116 + 62.5, to: 116 + 120 },
    ...topUps.map((to) => ({ rule: 'l1-balance-low', from: to - 9, to })),
  ];
}

/** Interval of evaluations; the windows of the rules are longer. */
const STEPS: Readonly<Record<string, number>> = {
  'quarantine-growing': 30 * MINUTE,
  'gap-permanent': 6 * HOUR,
  discrepancy: 3 * HOUR,
  'series-break': 12 * HOUR,
  'validation-ending': 12 * HOUR,
  'reward-at-risk': 12 * HOUR,
  'l1-balance-low': 6 * HOUR,
};

it('replays the default rules over a year of a record, and reports every incident', async () => {
  const incidents = [
    ...(await insertQuarantines()),
    ...(await insertGaps()),
    ...(await insertDiscrepancies()),
    ...(await insertSeriesBreaks()),
    ...(await insertValidations()),
  ];
  await sql`analyze`;
  const alerts = testAlerts(
    database.url,
    new ManualClock(at(DAYS).getTime()),
    {},
    { facts: { nodes: ['n1'] } },
  );
  const alertsOfRules: Alert[] = [];
  for (const [name, step] of Object.entries(STEPS)) {
    const rules = alerts.rules.filter((rule) => rule.name === name);
    const result = await replayRules(
      { ...alerts, rules },
      { from: start, to: at(DAYS).getTime(), step },
      new AbortController().signal,
    );
    expect(result.left).toEqual([]);
    alertsOfRules.push(...result.alerts);
  }
  await alerts.close();
  const belongsTo =
    ({ rule, from, to }: Incident) =>
    (alert: Alert) =>
      alert.rule === rule &&
      (alert.firedAt ?? alert.beganAt) <= at(to) &&
      (alert.resolvedAt === null || alert.resolvedAt >= at(from));
  const counts = Object.keys(STEPS).map((rule) => [
    rule,
    {
      incidents: incidents.filter((one) => one.rule === rule).length,
      alerts: alertsOfRules.filter((one) => one.rule === rule).length,
      withoutIncident: alertsOfRules.filter(
        (one) => one.rule === rule && !incidents.some((each) => belongsTo(each)(one)),
      ).length,
    },
  ]);
  console.log(JSON.stringify(Object.fromEntries(counts)));
  expect(incidents.filter((one) => !alertsOfRules.some(belongsTo(one)))).toEqual([]);
  const alertsOf = (rule: string) => alertsOfRules.filter((one) => one.rule === rule).length;
  expect([alertsOf('quarantine-growing'), alertsOf('gap-permanent')]).toEqual([6, 10]);
});
