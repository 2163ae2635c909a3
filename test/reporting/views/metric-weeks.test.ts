import { beforeEach, expect } from 'vitest';
import { withDatabase } from '../../support/fixture.ts';

const { it, sql } = withDatabase();
beforeEach(async () => {
  await sql`truncate recorder.metric_points, recorder.metric_points_series`;
});

async function insertPoints(interval: string, step: string, values: number, from: string, to: string) {
  const [series] = await sql<{ id: number }[]>`
    insert into recorder.metric_points_series (chain_id, metric, time_interval)
    values ('1', 'txCount', ${interval}) returning series_id as id`;
  await sql`
    insert into recorder.metric_points (series_id, bucket_start, value, valid_from, run_id)
    select ${series?.id ?? 0}::int, at, ${values}::int, '2026-02-01', 1
    from generate_series(${from}::text::timestamptz, ${to}::text::timestamptz, ${step}::text::interval) as at`;
}

const selectWeeks = async () => [
  ...(await sql`
    select value::int, change::int, is_complete
    from reporting.metric_week_over_week('2026-01-01+00', '2026-02-01+00', 'txCount')`),
];

it('compares no week with a week in which days are missing, and does not call such a week complete', async () => {
  await insertPoints('day', '24 hours', 10, '2026-01-08+00', '2026-01-26+00');
  expect(await selectWeeks()).toEqual([
    { value: 40, change: null, is_complete: false },
    { value: 70, change: null, is_complete: true },
    { value: 70, change: 0, is_complete: true },
    { value: 10, change: -60, is_complete: false },
  ]);
});

it('calls a week of the service complete once a later week was recorded, whatever days are', async () => {
  await insertPoints('day', '24 hours', 10, '2026-01-05+00', '2026-01-31+00');
  await insertPoints('week', '168 hours', 70, '2026-01-05+00', '2026-01-19+00');
  expect(await selectWeeks()).toEqual([
    { value: 70, change: null, is_complete: true },
    { value: 70, change: 0, is_complete: true },
    { value: 70, change: 0, is_complete: false },
  ]);
});

it('metric_by_chain has a reason only for values that cannot be aggregated', async () => {
  await insertPoints('day', '24 hours', 10, '2026-01-05+00', '2026-01-06+00');
  const reasonOf = async (metric: string) => {
    await sql`update recorder.metric_points_series set metric = ${metric}`;
    const [row] = await sql<{ reason: string | null }[]>`
      select reason from reporting.metric_by_chain('2026-01-06+00', '2026-02-01+00', ${metric})`;
    return row?.reason;
  };
  expect(await reasonOf('txCount')).toBeNull();
  expect(await reasonOf('feesPaid')).toBe(
    'feesPaid is in the token of each chain: amounts of different tokens cannot be added',
  );
  expect(await reasonOf('unknown')).toBe(
    'unknown is not in reporting.metric_rules: the rule for its aggregation is unknown',
  );
});
