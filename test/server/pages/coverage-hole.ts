import type postgres from 'postgres';

/** A target of `metric_points` whose name needs quoting in a command line. */
export const holed = `chainId=it's metric=txCount timeInterval=day`;

const DAY = 86_400_000;

/**
 * Inserts a target of `metric_points` with holes, from a moment on: ten days are covered except a part of day 2 and day
 * 4, which can still be fetched, and days 6 and 7, which are lost.
 */
export async function makeHoles(sql: postgres.Sql, start: number): Promise<void> {
  const ms = (days: number) => String(start + days * DAY);
  const ranges = [
    [0, 2.25],
    [2.75, 4],
    [5, 6],
    [8, 10],
  ] as const;
  for (const [from, to] of ranges)
    await sql`
      insert into recorder.coverage (dataset, target_key, axis, covered)
      values ('metric_points', ${holed}, 'time',
        int8multirange(int8range(${ms(from)}::text::bigint, ${ms(to)}::text::bigint)))
      on conflict (dataset, target_key) do update set covered = recorder.coverage.covered + excluded.covered`;
  await sql`
    insert into recorder.targets (source, target_key, target)
    select source, ${holed}, '{}' from recorder.target_datasets where dataset = 'metric_points' limit 1`;
  await sql`
    insert into recorder.target_datasets (source, target_key, dataset, every_ms, expected_from, requested_since, active)
    select source, ${holed}, 'metric_points', every_ms, ${ms(0)}::text::bigint, now(), true
    from recorder.target_datasets where dataset = 'metric_points' limit 1`;
  await sql`
    insert into recorder.gaps (dataset, target_key, axis, range, reason, noticed_at)
    values ('metric_points', ${holed}, 'time', int8range(${ms(6)}::text::bigint, ${ms(8)}::text::bigint),
      'the service keeps <90 days', now())`;
}
