import { beforeAll, expect } from 'vitest';
import { withDatabase } from '../../support/fixture.ts';

const TARGETS = 200;
const NOW = Date.UTC(2026, 5, 1);
const HOUR = 3_600_000;

const { it, sql } = withDatabase({ max: 1, connection: { TimeZone: 'UTC' } });
beforeAll(async () => {
  // Targets with and without an expected start, some without coverage; gaps that touch, overlap each other and covered
  // ranges.
  await sql`select setseed(0.2611)`;
  await sql`
    insert into recorder.targets (source, target_key, target)
    select 's', 'target ' || n, '{}' from generate_series(1, ${TARGETS}) n`;
  await sql`
    insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, expected_from)
    select 's', 'target ' || n, case when n % 5 = 0 then 'p_blocks' else 'metric_points' end, 3600000, n % 3 > 0, now(),
      case when n % 5 > 0 and n % 7 > 0 then ${NOW}::bigint - (n % 90) * ${HOUR}::bigint end
    from generate_series(1, ${TARGETS}) n`;
  await sql`
    insert into recorder.coverage (dataset, target_key, axis, covered)
    select d.dataset, d.target_key, case d.dataset when 'p_blocks' then 'height' else 'time' end,
      range_agg(int8range(begins, begins + 1 + (random() * 20)::int * ${HOUR}::bigint))
    from recorder.target_datasets d, generate_series(1, 6) part,
      lateral (select ${NOW}::bigint - (d.target_key || part <> '')::int * (random() * 100)::int * ${HOUR}::bigint as begins) b
    where d.target_key not like '%3' group by d.dataset, d.target_key`;
  await sql`
    insert into recorder.gaps (dataset, target_key, axis, range, reason, noticed_at)
    select d.dataset, d.target_key, case d.dataset when 'p_blocks' then 'height' else 'time' end,
      int8range(begins, begins + 1 + (random() * 9)::int * ${HOUR}::bigint), 'reason ' || part % 3, now()
    from recorder.target_datasets d, generate_series(1, 4) part,
      lateral (select ${NOW}::bigint - (d.target_key || part <> '')::int * (random() * 120)::int * ${HOUR}::bigint as begins) b
    where d.target_key not like '%7' on conflict do nothing`;
});

it('gaps are the known ones, and the ranges neither recorded nor lost between the expected start and the newest moment', async () => {
  const [compared] = await sql<{ rows: number; parts: number; wrong: unknown }[]>`
    with plain as (
      select g.dataset, g.target_key, g.axis, g.range as missing, g.reason from recorder.gaps g
      union all
      select c.dataset, c.target_key, c.axis, m.missing, 'not recorded yet'
      from recorder.coverage c
      join recorder.target_datasets t using (dataset, target_key)
      cross join lateral unnest(
        int8multirange(int8range(least(t.expected_from, upper(c.covered)), upper(c.covered))) - c.covered
        - coalesce((
            select range_agg(g.range) from recorder.gaps g
            where g.dataset = c.dataset and g.target_key = c.target_key), '{}')) as m(missing)
      where t.expected_from is not null
    ),
    -- A covered millisecond between two ranges with one reason is a single poll.
    placed as (
      select *, lower(missing) > max(upper(missing)) over (
          partition by dataset, target_key, reason order by lower(missing), upper(missing) rows between unbounded preceding and 1 preceding
        ) + case axis when 'time' then 1 else 0 end as is_apart
      from plain
    ),
    numbered as (
      select *, count(*) filter (where is_apart) over (
        partition by dataset, target_key, reason order by lower(missing), upper(missing)) as place
      from placed
    ),
    joined as (
      select dataset, target_key, axis, reason, int8range(min(lower(missing)), max(upper(missing))) as missing
      from numbered group by dataset, target_key, axis, reason, place
    ),
    expected as (
      select dataset, target_key as target, case axis when 'time' then to_timestamp(lower(missing) / 1000.0) end as range_start,
        case axis when 'time' then to_timestamp(upper(missing) / 1000.0) end as range_end,
        case axis when 'height' then lower(missing) end as first_height, case axis when 'height' then upper(missing) end as end_height, reason
      from joined
    )
    select (select count(*)::int from expected) as rows, (select count(*)::int from plain) as parts,
      (select jsonb_agg(to_jsonb(w)) from (
        (select 'reporting' as by, * from (select * from reporting.gaps except all select * from expected) a)
        union all (select 'plain', * from (select * from expected except all select * from reporting.gaps) b) limit 5) w) as wrong`;
  expect(compared?.wrong).toBeNull();
  expect(compared?.rows).toBeGreaterThan(TARGETS);
  expect(compared?.parts).toBeGreaterThan(compared?.rows ?? 0);
});

it('ranges in numbers are coverage and gaps, and known ranges are both together', async () => {
  const [compared] = await sql<{ targets: number; wrong: unknown }[]>`
    with ranges as (
      select dataset, target, range_agg(int8range(begins, ends)) filter (where kind = 'recorded') as recorded,
        range_agg(int8range(begins, ends)) filter (where kind = 'missing') as missing,
        range_agg(int8range(begins, ends)) filter (where kind = 'known') as known,
        count(*) filter (where kind = 'known') as unbroken
      from reporting_internal.coverage_ranges group by dataset, target
    ),
    views as (
      select dataset, target, range_agg(part) filter (where recorded) as recorded, range_agg(part) filter (where not recorded) as missing,
        range_agg(part) as known
      from (
        select dataset, target, true as recorded, int8range(coalesce(first_height, (extract(epoch from range_start) * 1000000)::bigint),
          coalesce(end_height, (extract(epoch from range_end) * 1000000)::bigint)) as part from reporting.coverage
        union all
        select dataset, target, false, int8range(coalesce(first_height, (extract(epoch from range_start) * 1000000)::bigint),
          coalesce(end_height, (extract(epoch from range_end) * 1000000)::bigint)) from reporting.gaps) both_views
      group by dataset, target
    )
    select (select count(*)::int from views) as targets,
      (select jsonb_agg(to_jsonb(w)) from (
        select dataset, target, t.known::text as in_ranges, s.known::text as in_views from ranges t full join views s using (dataset, target)
        where (t.recorded, t.known) is distinct from (s.recorded, s.known) or not coalesce(t.missing, '{}') <@ coalesce(s.missing, '{}')
          -- Only gaps that were joined contain the millisecond of a single poll.
          or exists (
            select from unnest(coalesce(s.missing, '{}') - coalesce(t.missing, '{}')) as one
            where upper(one) - lower(one) > 1000 or not one <@ t.recorded)
          or t.unbroken <> (select count(*) from unnest(s.known)) limit 5) w) as wrong`;
  expect(compared?.wrong).toBeNull();
  expect(compared?.targets).toBeGreaterThan(TARGETS / 2);
});
