import type postgres from 'postgres';
import { afterAll, beforeAll, expect } from 'vitest';
import type { Sandbox } from '../../../sandbox/server.ts';
import { openComparisonConnection } from '../../../src/db/client.ts';
import { compareSources } from '../../../src/reporting/checks/compare.ts';
import { stillSandbox } from '../../sandbox/client.ts';
import { withDatabase } from '../../support/fixture.ts';
import { type Alter, recordYear, untidyPolls } from './recorded-year.ts';

const DAY = 86_400;
const GENESIS = Date.UTC(2025, 0, 1) / 1000;
const NOW = GENESIS + 400 * DAY;
const on = (day: string) => Date.parse(`${day}T00:00:00Z`) / 1000;

let sandbox: Sandbox;
const { it, database, sql } = withDatabase({ max: 4 });
let comparing: postgres.Sql;
beforeAll(async () => {
  ({ sandbox } = await stillSandbox({ genesisMs: GENESIS * 1000 }));
  comparing = openComparisonConnection(database.url);
});
afterAll(async () => {
  await comparing?.end();
  await sandbox?.close();
});

const compare = (at: number) => compareSources(comparing, at * 1000, new AbortController().signal);

interface Row {
  readonly check_name: string;
  readonly subject: string;
  readonly at: Date;
  readonly left: string;
  readonly right: string;
  readonly difference: string;
  readonly relative: string;
  readonly ended_at: Date | null;
}

const rows = (chain: string) => sql<Row[]>`
  select check_name, subject, at, left_source || ' ' || left_value as left, right_source || ' ' || right_value as right,
    difference::text, relative_difference::text as relative, ended_at
  from reporting.discrepancies where subject like ${`chain_id=${chain} %`} order by at, check_name, subject`;
const summarize = (all: readonly Row[]) =>
  all.map(
    ({ check_name, subject, at }) =>
      `${at.toISOString().slice(0, 10)} ${check_name} ${subject.replace(/^chain_id=\S+ metric=/, '')}`,
  );

it('find nothing in a year that was recorded irregularly', async () => {
  for (const chain of ['43114', '888002']) {
    await recordYear(sql, sandbox, chain, GENESIS, untidyPolls(GENESIS + 30 * DAY, NOW));
    // The recorder was off in between, and polls at any time of the day.
    for (const after of [0, 7, 300]) {
      expect(await compare(NOW + after * 3_600)).toMatchObject({ discrepancies: 0, breaks: 0, failed: [] });
    }
  }
  const [moved] = await sql`
    select count(*)::int as revisions, count(*) filter (where valid_to > bucket_start + interval '3 days')::int as late,
      count(*) filter (where vanished)::int as vanished from recorder.metric_points where valid_to is not null`;
  expect(moved?.revisions).toBeGreaterThan(10_000);
  expect(moved?.late).toBeGreaterThan(100);
  await truncateTables();
});

it('compare nearly every day with another source: an error on all days is found on all days', async () => {
  const start = GENESIS + 61 * DAY;
  await recordYear(sql, sandbox, '888001', start, untidyPolls(start, NOW), (metric, interval, at, value) => {
    if (metric === 'txCount' && interval === 'day') return value * 3;
    if (metric === 'contracts') return value * 3 + 10;
    if (metric === 'cumulativeAddresses') return 10_000_000 - Math.floor((at - start) / DAY);
    return metric === 'avgGasPrice' ? value * 10 : value;
  });
  await compare(NOW);
  const counts = await sql<{ what: string; count: number }[]>`
    select check_name || ' ' || substring(subject from 'metric=(.+) time') || ' ' || substring(subject from 'time_interval=(.+)') as what,
      count(*)::int as count from reporting.discrepancies group by 1 order by 1`;
  const days = (NOW - start) / DAY;
  expect(counts.map(({ what }) => what)).toEqual([
    'metric_bounds maxGasPrice day',
    'metric_falls cumulativeAddresses day',
    'metric_growth cumulativeContracts day',
    'metric_growth cumulativeTxCount day',
    'metric_parts txCount day',
    'metric_parts txCount month',
    'metric_parts txCount week',
    'metric_rates avgTps day',
  ]);
  for (const { what, count } of counts) {
    const expectedCount = what.endsWith('month') ? 11 : what.endsWith('week') ? days / 7 : days;
    expect({ what, few: count < 0.93 * expectedCount - 2, count }).toEqual({ what, few: false, count });
  }
  await truncateTables();
});

const truncateTables = () => sql`
  truncate recorder.metric_points, recorder.targets, recorder.target_datasets, recorder.check_runs, recorder.discrepancies,
    recorder.series_breaks`;

const DAYS_SWAPPED = [on('2025-06-13'), on('2025-06-15')] as const;

it('find every planted error, with its subject and its day', async () => {
  const true_ = (metric: Parameters<Alter>[0], start: number) =>
    sandbox.metrics.value('888001', metric, 'day', start, NOW) ?? 0;
  const alter: Alter = (metric, interval, start, value) => {
    const day = interval === 'day';
    // A day of transactions that differs by 3.4 % from its hours.
    if (metric === 'txCount' && day && start === on('2025-07-20')) return Math.round(value * 1.034);
    // Two exchanged days.
    if (metric === 'txCount' && start === DAYS_SWAPPED[0] && day) return true_('txCount', DAYS_SWAPPED[1]);
    if (metric === 'txCount' && start === DAYS_SWAPPED[1] && day) return true_('txCount', DAYS_SWAPPED[0]);
    // A cumulative metric that decreases permanently.
    if (metric === 'cumulativeAddresses' && start >= on('2025-11-18')) return value - 50_000;
    // A day with more deployments than the increase of the sum.
    if (metric === 'contracts' && start === on('2025-09-04')) return Math.round(value * 1.5) + 10;
    // An hour that is permanently missing at the service is no error; one that is far too high is.
    if (metric === 'activeSenders' && interval === 'hour' && start === on('2025-08-08') + 7 * 3_600)
      return null;
    if (metric === 'activeAddresses' && interval === 'hour' && start === on('2025-08-09') + 7 * 3_600)
      return value * 100;
    // An average that differs from the count over the day, and a maximum below its average.
    if (metric === 'avgGps' && start === on('2025-10-01')) return value * 1.2;
    if (metric === 'maxGasPrice' && start === on('2025-10-02')) return value / 10;
    // The counted quantity changes: two metrics that agree with each other are halved.
    if (/GasPrice/.test(metric) && start >= on('2025-10-20')) return value / 2;
    return value;
  };
  await recordYear(sql, sandbox, '888001', GENESIS + 61 * DAY, untidyPolls(GENESIS + 90 * DAY, NOW), alter);
  await compare(NOW);
  const discrepancies = await rows('888001');
  expect(summarize(discrepancies)).toEqual([
    '2025-06-13 metric_growth cumulativeTxCount time_interval=day',
    '2025-06-13 metric_parts txCount time_interval=day',
    '2025-06-13 metric_rates avgTps time_interval=day',
    '2025-06-15 metric_growth cumulativeTxCount time_interval=day',
    '2025-06-15 metric_parts txCount time_interval=day',
    '2025-06-15 metric_rates avgTps time_interval=day',
    '2025-07-20 metric_growth cumulativeTxCount time_interval=day',
    '2025-07-20 metric_parts txCount time_interval=day',
    '2025-08-09 metric_parts activeAddresses time_interval=day',
    '2025-09-04 metric_growth cumulativeContracts time_interval=day',
    '2025-10-01 metric_rates avgGps time_interval=day',
    '2025-10-02 metric_bounds maxGasPrice time_interval=day',
    '2025-11-18 metric_falls cumulativeAddresses time_interval=day',
  ]);
  const day = true_('txCount', on('2025-07-20'));
  const wrong = Math.round(day * 1.034);
  expect(
    discrepancies.find(
      ({ check_name, at }) => check_name === 'metric_parts' && at.getTime() === on('2025-07-20') * 1000,
    ),
  ).toMatchObject({
    left: `sum of 24 hours ${day}`,
    right: `day ${wrong}`,
    difference: String(wrong - day),
    relative: expect.stringMatching(/^0\.032/),
    ended_at: null,
  });
  const breaks = await sql`
    select metric, broke_at, ratio::float8, strength::float8 > 3 as strong from reporting.series_breaks order by metric`;
  expect(breaks.map(({ metric }) => metric)).toEqual(['avgGasPrice', 'maxGasPrice']);
  for (const one of breaks) {
    expect(Math.abs(one.broke_at.getTime() / 1000 - on('2025-10-20'))).toBeLessThanOrEqual(2 * DAY);
    expect(one.ratio).toBeGreaterThan(0.4);
    expect(one.ratio).toBeLessThan(0.65);
  }
});

it('change nothing when they run again, and end a row when the sources agree', async () => {
  const before = await sql`select * from recorder.discrepancies order by id`;
  await compare(NOW + 7_200);
  expect(await sql`select * from recorder.discrepancies order by id`).toEqual(before);
  // The service fixes a day, and corrupts another one. The hours of both are older than the polled ones.
  const later = NOW + 40 * DAY;
  await revise(
    on('2025-07-20'),
    sandbox.metrics.value('888001', 'txCount', 'day', on('2025-07-20'), NOW) ?? 0,
    later,
  );
  await revise(on('2025-07-22'), 2_000, later);
  await sql`update recorder.target_datasets set last_success_at = to_timestamp(${later})`;
  await compare(later);
  const about = async (day: string) =>
    (await rows('888001'))
      .filter(({ at }) => at.getTime() === on(day) * 1000)
      .map((one) => [one.check_name, one.ended_at?.getTime()]);
  expect(await about('2025-07-20')).toEqual([
    ['metric_growth', later * 1000],
    ['metric_parts', later * 1000],
  ]);
  // Every poll requests all days; changes of the hours were not requested.
  expect((await about('2025-07-22')).map(([check]) => check)).toEqual(['metric_growth', 'metric_rates']);
});

/** Another value of a day's transactions, as a poll at a time (Unix seconds) receives it. */
async function revise(day: number, value: number, at: number): Promise<void> {
  const point = sql`series_id = public.series_of('888001', 'txCount', 'day') and bucket_start = to_timestamp(${day})`;
  await sql`update recorder.metric_points set valid_to = to_timestamp(${at}) where ${point} and valid_to is null`;
  await sql`
    insert into recorder.metric_points (series_id, bucket_start, value, valid_from, run_id)
    values (public.series_of('888001', 'txCount', 'day'), to_timestamp(${day}), ${value}, to_timestamp(${at}), 2)`;
}

it('keep the settling time of metrics with many revisions, and of no others', async () => {
  const settling = (view: string) =>
    sql.unsafe(`select metric, time_interval, revisions::int, points_revised::int, half_moved_within::text,
      settled_within::text, latest_move::text from reporting.${view} order by metric, time_interval`);
  const [{ measured } = { measured: null }] = await sql<{ measured: Date | null }[]>`
    select max(measured_at) as measured from reporting.metric_settling`;
  // It is measured while it is read.
  expect(Number(measured)).toBeGreaterThan(Date.now() - 60_000);
  await sql`insert into recorder.metric_points_series (chain_id, metric, time_interval) values ('1', 'txCount', 'hour')`;
  await sql`
    insert into recorder.metric_points (series_id, bucket_start, value, valid_from, valid_to, run_id)
    select series_id, at, version, at + (1 + version) * interval '1 hour',
      case when version = 0 then at + (2 + n % 100) * interval '1 hour' end, 1
    from recorder.metric_points_series s, generate_series(1, 50001) n, generate_series(0, 1) version,
      lateral (select timestamptz '2018-01-01 UTC' + n * interval '1 hour' as at) a
    where s.chain_id = '1' and s.metric = 'txCount' and s.time_interval = 'hour'`;
  const live = await settling('metric_settling_of(null)');
  expect(live).toContainEqual(expect.objectContaining({ metric: 'txCount', time_interval: 'hour' }));
  await compare(NOW);
  expect(await settling('metric_settling')).toEqual(live);
  expect(
    await sql`select distinct measured_at from reporting.metric_settling`.then((all) => [...all]),
  ).toEqual([{ measured_at: new Date(NOW * 1000) }]);
  // Changes until the next comparison are not measured yet. Few are measured while they are read again.
  await sql`
    delete from recorder.metric_points where series_id = (
      select series_id from recorder.metric_points_series where chain_id = '1')`;
  expect(await settling('metric_settling')).toEqual(live);
  await compare(NOW);
  expect(await settling('metric_settling')).toEqual(await settling('metric_settling_of(null)'));
  expect(await settling('metric_settling')).not.toEqual(live);
  expect(await sql`select from recorder.metric_settling`).toHaveLength(0);
});
