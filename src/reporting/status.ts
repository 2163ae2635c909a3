import type postgres from 'postgres';

/** How the recording stands, as `status` and `/api/status` tell it. */
export interface Status {
  readonly datasets: readonly DatasetStatus[];
  readonly recent_failures: readonly { dataset: string; target: string; at: Date; error: string | null }[];
  readonly budgets: readonly {
    upstream: string;
    minute_units: number;
    day_units: number;
    blocked_until: Date | null;
  }[];
  readonly quarantined: number;
  readonly gaps: number;
  /** Targets late by more than three intervals, or never recorded after as many tries: a fault that does not pass by itself. */
  readonly late_targets: number;
}

/** One dataset over all its targets. */
export interface DatasetStatus {
  readonly dataset: string;
  readonly targets: number;
  readonly last_success_at: Date | null;
  /** Seconds that the latest target is late. */
  readonly late_by: number | null;
  readonly never_recorded: number;
  readonly failing: number;
  readonly not_offered: number;
  readonly rows_today: number;
}

const TOLERATED_INTERVALS = 3;

/** Reads the state of the recording out of `reporting`. */
export async function statusOf(sql: postgres.Sql): Promise<Status> {
  const [datasets, recent_failures, budgets, [counts]] = await Promise.all([
    sql<DatasetStatus[]>`
      select f.dataset, count(*)::int as targets, max(f.last_success_at) as last_success_at,
        extract(epoch from max(f.late_by))::float8 as late_by,
        (count(*) filter (where f.last_success_at is null and f.not_offered is null))::int as never_recorded,
        (count(*) filter (where f.failures > 0))::int as failing,
        (count(*) filter (where f.not_offered is not null))::int as not_offered,
        coalesce((select sum(r.rows_written) from reporting.runs r
          where r.dataset = f.dataset and r.started_at > now() - interval '1 day'), 0)::float8 as rows_today
      from reporting.freshness f group by f.dataset order by f.dataset`,
    sql<{ dataset: string; target: string; at: Date; error: string | null }[]>`
      select dataset, target, finished_at as at, error from reporting.runs
      where status = 'failed' and finished_at > now() - interval '1 day' order by finished_at desc limit 10`,
    sql<{ upstream: string; minute_units: number; day_units: number; blocked_until: Date | null }[]>`
      select upstream, minute_units::float8, day_units::float8,
        case when blocked_until > now() then blocked_until end as blocked_until
      from recorder.budgets order by upstream`,
    sql<{ quarantined: number; gaps: number; late: number }[]>`
      select (select count(*) from recorder.quarantine)::int as quarantined,
        (select count(*) from recorder.gaps)::int as gaps,
        (select count(*) from reporting.freshness
          where late_by > expected_every * ${TOLERATED_INTERVALS}::int
            or last_success_at is null and failures >= ${TOLERATED_INTERVALS}::int)::int as late`,
  ]);
  return {
    datasets: [...datasets],
    recent_failures: [...recent_failures],
    budgets: [...budgets],
    quarantined: counts?.quarantined ?? 0,
    gaps: counts?.gaps ?? 0,
    late_targets: counts?.late ?? 0,
  };
}
