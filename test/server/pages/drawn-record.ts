import type postgres from 'postgres';
import { makeSeriesOf } from '../../support/points.ts';

/** An address whose balance changed every day, was missing for some days, and returned. */
export const holder = { chain_id: '43114', address: '0x00000000000000000000000000000000000000aa' };
/** A metric with more points than are drawn at once: one an hour. */
export const busy = { chain_id: 'busy', metric: 'txCount', time_interval: 'hour' };
/** Its first hour, the number of points, and one of them with many digits. */
export const first = Date.UTC(2026, 0, 1);
export const HOURS = 5_000;
export const precise = { at: first + 2_000 * 3_600_000, value: '123456789012345678901.000000000000000001' };

/** Adds the records of chart tests to a database. */
export async function addToDraw(sql: postgres.Sql): Promise<void> {
  await makeSeriesOf(sql);
  const [run] = await sql<{ id: string }[]>`select min(run_id)::text as id from recorder.metric_points`;
  await sql`
    insert into recorder.metric_points (series_id, bucket_start, value, valid_from, run_id)
    select (select public.series_of(${busy.chain_id}, ${busy.metric}, ${busy.time_interval})), h,
      case when h = ${new Date(precise.at)} then ${precise.value}::numeric else 1000 + extract(day from h) * 7 end,
      h + interval '1 hour', ${run?.id ?? '1'}
    from generate_series(${new Date(first)}::timestamptz, ${new Date(first)}::timestamptz + interval '1 hour' * ${HOURS - 1}, '1 hour') h`;
  await sql`
    insert into recorder.native_balances (chain_id, address, balance, symbol, decimals, valid_from, valid_to, ended_by, run_id)
    select ${holder.chain_id}, ${holder.address}, b.balance::numeric, 'AVAX', 18, b.since::timestamptz, b.until::timestamptz,
      case when b.until is null then null else 'gone' end, ${run?.id ?? '1'}
    from (values ('1000000000000000000001', '2026-01-01Z', '2026-01-10Z'), ('2000000000000000000002', '2026-01-10Z', '2026-01-20Z'),
      ('3000000000000000000003', '2026-02-01Z', null)) as b(balance, since, until)`;
}

/** A metric with one point a second, more than one statement reads; one of the first is far above the others. */
export const dense = { chain_id: 'dense', metric: 'txCount', time_interval: 'hour' };
export const DENSE = 270_000;
export const peak = { at: first + 5_000, value: '999999999' };

/** Adds {@link dense} to a database. */
export async function addTooMany(sql: postgres.Sql): Promise<void> {
  await makeSeriesOf(sql);
  await sql`
    insert into recorder.metric_points (series_id, bucket_start, value, valid_from, run_id)
    select (select public.series_of(${dense.chain_id}, ${dense.metric}, ${dense.time_interval})), s,
      case when s = ${new Date(peak.at)} then ${peak.value}::numeric else 1000 + extract(minute from s) end, s, min(m.run_id)
    from (select min(run_id) as run_id from recorder.metric_points) m,
      generate_series(${new Date(first)}::timestamptz, ${new Date(first)}::timestamptz + interval '1 second' * ${DENSE - 1}, '1 second') s
    group by s`;
  await sql.unsafe('vacuum analyze recorder.metric_points');
}
