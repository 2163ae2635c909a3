import type postgres from 'postgres';
import { catalog } from '../../src/datasets/catalog.ts';

/** Runs of a year that are still single rows. */
const RUNS = 500_000;

/** Writes the bookkeeping of a year: coverage with holes, gaps, runs, counts of runs, findings and seals. */
export async function fillBookkeeping(sql: postgres.Sql): Promise<void> {
  // Targets outside the configuration were recorded by hand.
  for (const { name, source } of catalog) await sql.unsafe(BY_HAND, [name, source.name]);
  for (const statement of STATEMENTS) await sql.unsafe(statement);
}

const BY_HAND = `with target as (
    insert into recorder.targets (source, target_key, target) select $2, 'by=hand', '{"by":"hand"}'
    where not exists (select from recorder.target_datasets where dataset = $1) on conflict do nothing
  )
  insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since)
  select $2, 'by=hand', $1, 3600000, false, now() where not exists (select from recorder.target_datasets where dataset = $1)`;

const STATEMENTS = [
  `update recorder.target_datasets set first_success_at = now() - interval '1 year', last_success_at = now(), last_complete_at = now(),
    requested_since = now() - interval '1 year', items = 100000, rows_written = 10000, rows_day = now()::date, rows_today = 100`,
  // Every 100th fails, every 70th is incomplete.
  `with numbered as (select source, target_key, dataset, row_number() over (order by dataset, target_key) as n from recorder.target_datasets)
  update recorder.target_datasets d set failures = (n % 100 = 0)::int, last_error = case when n % 100 = 0 then 'the call failed (503)' end,
    last_failure_at = case when n % 100 = 0 then now() - interval '1 hour' end,
    incomplete_since = case when n % 70 = 0 then now() - interval '1 day' end,
    incomplete_reason = case when n % 70 = 0 then 'a page was missing' end
  from numbered using_n where (d.source, d.target_key, d.dataset) = (using_n.source, using_n.target_key, using_n.dataset)`,
  // Each target by time lacks some hours eight times: half of these are permanent gaps.
  `with holes as (
    select d.dataset, d.target_key, d.expected_from, n, int8range(at, at + 3600000 * (1 + n * n)) as hole
    from recorder.target_datasets d, generate_series(1, 8) n,
      lateral (select (extract(epoch from now()) * 1000)::bigint - n * 3800000000
        + abs(hashtext(d.target_key || n)) % 1000000000 as at) begins
    where d.expected_from is not null
  ),
  covered as (
    insert into recorder.coverage (dataset, target_key, axis, covered)
    select dataset, target_key, 'time',
      int8multirange(int8range(expected_from, (extract(epoch from now()) * 1000)::bigint)) - range_agg(hole)
    from holes group by dataset, target_key, expected_from
  )
  insert into recorder.gaps (dataset, target_key, axis, range, reason, noticed_at)
  select dataset, target_key, 'time', hole,
    (array['the service was away', 'the answer could not be read', 'the budget was spent', 'not offered so far back'])[n / 2], now()
  from holes where n % 2 = 0`,
  `insert into recorder.coverage (dataset, target_key, axis, covered)
  select d.dataset, d.target_key, 'height', '{[0,1000000),[1000100,2000000),[2000500,5000000)}'
  from recorder.target_datasets d
  where d.dataset in ('p_blocks', 'x_blocks', 'proposed_blocks') on conflict do nothing`,
  `insert into recorder.runs (source, target_key, datasets, reason, status, worker, started_at, finished_at, pages, items, rows_written,
    requests, budget_units, error)
  select t.source, t.target_key, t.datasets, case when n % 50 = 0 then 'heal' else 'poll' end,
    case when n % 200 = 0 then 'failed' else 'done' end, 'host/1', at, at + interval '1 second', 1, t.counts, t.counts, 1, 100,
    case when n % 200 = 0 then 'the call failed (503)' end
  from generate_series(1, ${RUNS}) n
  join (select source, target_key, array_agg(dataset order by dataset) as datasets, array_agg(25::bigint) as counts,
      row_number() over (order by source, target_key) as number, count(*) over () as total
    from recorder.target_datasets group by source, target_key) t on t.number = 1 + n % t.total
  cross join lateral (select now() - interval '1 year' + n * interval '1 year' / ${RUNS} as at) started
  order by n`,
  `insert into recorder.run_days (span, starts_on, dataset, target_key, reason, runs, failed, lost, pages, items, rows_written, requests, budget_units, quarantined)
  select 'day', (now() - day * interval '1 day')::date, dataset, target_key, 'poll', 24, 0, 0, 24, 600, 0, 24, 2400, 0
  from generate_series(8, 365) day, recorder.target_datasets`,
  `insert into recorder.run_days (span, starts_on, dataset, target_key, reason, runs, failed, lost, pages, items, rows_written, requests, budget_units, quarantined)
  select 'month', (date_trunc('month', now()) - month * interval '1 month')::date, dataset, target_key, 'poll', 720, 0, 0, 24, 600, 0, 24, 2400, 0
  from generate_series(1, 24) month, recorder.target_datasets`,
  `insert into recorder.quarantine (dataset, target_key, digest, run_id, quarantined_at, last_seen, observed_at, reason, item)
  select dataset, target_key, md5(n::text), n, now() - n * interval '1 hour', now(), now(), 'value: must be a number', '{"value":"x"}'
  from generate_series(1, 8000) n
  join (select dataset, target_key, row_number() over (order by dataset, target_key) as number, count(*) over () as total
    from recorder.target_datasets) t on t.number = 1 + n % t.total`,
  `insert into recorder.discrepancies (check_name, dataset, subject, at, left_source, left_value, right_source, right_value, tolerance, found_at, ended_at)
  select 'metric_parts', 'metric_points', 'txCount of ' || n % 50, now() - n * interval '1 hour', 'day', n::text, 'hours', (n + 1)::text, '0',
    now() - n * interval '1 minute', case when n % 20 > 0 then now() end
  from generate_series(1, 20000) n`,
  `insert into recorder.series_breaks (chain_id, metric, broke_at, level_before, level_after, strength, found_at)
  select (1000 + n % 50)::text, 'txCount', now() - n * interval '1 hour', 100, 200, 5, now() from generate_series(1, 2000) n`,
  `insert into recorder.seals (seal, until, began_at, open, made_at, statement, head)
  select n, date_trunc('day', now()) - (365 - n) * interval '1 day', now(), '[]', now(), 'statement', md5(n::text)
  from generate_series(1, 365) n`,
  `insert into recorder.seal_datasets (dataset, seal, form, rows, ends, late, changes, root, head)
  select dataset, seal, 'form', 1000, 100, 0, '{}', md5(dataset || seal), md5(seal || dataset)
  from (select distinct dataset from recorder.target_datasets) d, recorder.seals`,
];
