import { beforeEach, expect } from 'vitest';
import { compareSources } from '../../../src/reporting/checks/compare.ts';
import {
  breaksIn,
  describeDiscrepancies,
  discrepanciesIn,
} from '../../../src/reporting/reports/discrepancies.ts';
import { findingGroups } from '../../../src/reporting/reports/findings.ts';
import { statusOf } from '../../../src/reporting/reports/status.ts';
import { recordingSamples } from '../../../src/server/metrics/recorder-metrics.ts';
import { exposition } from '../../../src/server/metrics/samples.ts';
import { withDatabase } from '../../support/fixture.ts';
import { makeSeriesOf } from '../../support/points.ts';

const HOUR = 3_600_000;

const { it, sql } = withDatabase({ max: 4 });
beforeEach(async () => {
  await sql`truncate recorder.discrepancies, recorder.series_breaks, recorder.check_runs, recorder.targets, recorder.target_datasets`;
});

/** Inserts a discrepancy that started, and possibly ended, this many hours ago. */
async function insertDiscrepancy(
  check: string,
  subject: string,
  found: number,
  ended?: number,
): Promise<void> {
  const ago = (hours: number) => new Date(Date.now() - hours * HOUR);
  await sql`
    insert into recorder.discrepancies (check_name, dataset, subject, at, left_source, left_value, right_source, right_value,
      tolerance, found_at, ended_at)
    values (${check}, 'metric_points', ${subject}, '2026-03-01', 'sum of 24 hours', '1000', 'day', '1034', '1 %', ${ago(found)},
      ${ended === undefined ? null : ago(ended)})`;
}

it('is counted in status and findings, and is no failure of the recorder', async () => {
  expect(await statusOf(sql, [])).toMatchObject({ discrepancies: [], findings: [] });
  expect(describeDiscrepancies([])).toBe('none');
  await insertDiscrepancy('metric_parts', 'chain_id=1', 5);
  await insertDiscrepancy('metric_parts', 'chain_id=2', 50);
  await insertDiscrepancy('metric_parts', 'chain_id=3', 50, 2);
  await insertDiscrepancy('balances', 'node=one', 500);
  const status = await statusOf(sql, []);
  expect(status.findings).toEqual([]);
  expect(status.discrepancies).toEqual([
    { check_name: 'balances', open: 1, found_today: 0 },
    { check_name: 'metric_parts', open: 2, found_today: 1 },
  ]);
  expect(describeDiscrepancies(status.discrepancies)).toBe(
    '3 open (balances 1, metric_parts 2), 1 of them found within a day',
  );
  expect(exposition(recordingSamples(status))).toContain(
    'chain_recorder_discrepancies{check="metric_parts"} 2',
  );
});

it('is listed with both values, their difference, and the tolerance', async () => {
  await insertDiscrepancy('metric_parts', 'chain_id=1', 5);
  await insertDiscrepancy('metric_parts', 'chain_id=2', 5, 1);
  expect(await discrepanciesIn(sql, { from: null, to: null })).toMatchObject([
    {
      subject: 'chain_id=1',
      left_value: '1000',
      right_value: '1034',
      difference: '34',
      relative_difference: '0.032882',
      tolerance: '1 %',
    },
  ]);
  expect(await discrepanciesIn(sql, { from: Date.UTC(2026, 2, 2), to: null })).toEqual([]);
  expect(await discrepanciesIn(sql, { from: null, to: Date.UTC(2026, 2, 1) })).toEqual([]);
  await sql`
    insert into recorder.series_breaks (chain_id, metric, broke_at, level_before, level_after, strength, found_at)
    values ('1', 'txCount', '2026-01-05', 100, 51, 7.1, now()), ('1', 'contracts', '2026-01-05', 0, 51, 7.1, now())`;
  expect((await breaksIn(sql, { from: null, to: null })).map(({ metric, ratio }) => [metric, ratio])).toEqual(
    [
      ['contracts', null],
      ['txCount', '0.5100'],
    ],
  );
});

it('that cannot be searched is a finding with its reason, and everything else is compared all the same', async () => {
  await sql`insert into recorder.targets (source, target_key, target) values ('metric-points', 'k', ${sql.json({ chainId: '7' })})`;
  await sql`
    insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since)
    values ('metric-points', 'k', 'metric_points', 3600000, true, now())`;
  const checks = async () => (await findingGroups(sql)).filter(({ component }) => component === 'checks');
  const compare = (now: number) => compareSources(sql, now, new AbortController().signal);
  const open = async () =>
    (await sql`select check_name from recorder.discrepancies where ended_at is null order by 1`).map(
      ({ check_name }) => check_name,
    );
  const now = Date.now();
  await sql`alter table recorder.average_tps rename to away`;
  expect(await compare(now - HOUR)).toMatchObject({
    failed: [{ scope: '7', error: expect.stringContaining('average_tps') }],
  });
  expect(await compare(now)).toMatchObject({ failed: [{ scope: '7' }] });
  await sql`alter table recorder.away rename to average_tps`;
  expect(await checks()).toMatchObject([
    {
      state: 'stalled',
      subject: '7',
      since: new Date(now - HOUR),
      reason: expect.stringContaining('average_tps'),
    },
  ]);
  expect(await compare(now)).toMatchObject({ failed: [] });
  expect(await checks()).toEqual([]);
  // No process compares any more.
  await sql`update recorder.check_runs set checked_at = ${new Date(now - 4 * HOUR)}`;
  expect(await checks()).toMatchObject([{ count: 2, reason: 'the sources were not compared since' }]);
  // A chain that is not watched any more has no discrepancies, whatever their check.
  await insertDiscrepancy('metric_parts', 'chain_id=7 metric=txCount time_interval=day', 5);
  await insertDiscrepancy('average_tps', 'chain_id=7', 5);
  await insertDiscrepancy('block_ids', 'node=one', 5);
  await sql`update recorder.target_datasets set active = false`;
  await compare(now);
  expect(await open()).toEqual(['block_ids']);
  expect((await sql`select scope from reporting_internal.check_runs`).map(({ scope }) => scope)).toEqual([
    'nodes',
  ]);
});

it('of a metric or of average_tps ends when one side is no longer polled', async () => {
  const now = Date.now();
  const day = new Date(Math.floor(now / (24 * HOUR)) * 24 * HOUR - 240 * HOUR);
  const polled = new Date(now - HOUR);
  const watch = async (dataset: string, target: Record<string, string>) => {
    const key = Object.entries(target)
      .map((entry) => entry.join('='))
      .join(' ');
    await sql`insert into recorder.targets (source, target_key, target) values (${dataset}, ${key}, ${sql.json(target)})`;
    await sql`
      insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, last_success_at)
      values (${dataset}, ${key}, ${dataset}, 3600000, true, ${day}, ${polled})`;
  };
  await makeSeriesOf(sql);
  for (const [metric, value] of [
    ['maxTps', 1],
    ['avgTps', 5],
  ] as const) {
    await watch('metric_points', { chainId: '7', metric, timeInterval: 'day' });
    await sql`
      insert into recorder.metric_points (series_id, bucket_start, value, valid_from, run_id)
      select public.series_of('7', ${metric}, 'day'), ${day}, ${value}, ${polled}, 1`;
  }
  await watch('average_tps', { chainId: '7' });
  await sql`
    insert into recorder.average_tps (chain_id, bucket_start, value, valid_from, run_id) values ('7', ${day}, 9, ${polled}, 1)`;
  const setWatched = (key: string, active: boolean) =>
    sql`update recorder.target_datasets set active = ${active} where target_key like ${key}`;
  const open = async () => {
    expect(await compareSources(sql, now, new AbortController().signal)).toMatchObject({ failed: [] });
    const rows = await sql<{ check_name: string }[]>`
      select check_name from reporting.discrepancies where ended_at is null order by 1`;
    return rows.map(({ check_name }) => check_name);
  };
  expect(await open()).toEqual(['average_tps', 'metric_bounds']);
  await setWatched('%maxTps%', false);
  expect(await open()).toEqual(['average_tps']);
  await setWatched('%maxTps%', true);
  expect(await open()).toEqual(['average_tps', 'metric_bounds']);
  await setWatched('chainId=7', false);
  expect(await open()).toEqual(['metric_bounds']);
  await setWatched('%avgTps%', false);
  expect(await open()).toEqual([]);
});
