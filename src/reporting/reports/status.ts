import type postgres from 'postgres';
import type { BudgetKey } from '../../db/budget-key.ts';
import { type DiscrepancyCount, discrepancyCounts } from './discrepancies.ts';
import { type Finding, type FindingGroup, type FindingState, findingGroups } from './findings.ts';

/** Kinds of findings that do not mean that the recording itself is late or stalled. */
const NOT_OF_THE_RECORDING: ReadonlySet<string> = new Set(['alerts', 'export', 'replica', 'index-stalled']);

/** The state of the recording, as shown by `status` and `/api/status`. */
export interface Status {
  readonly datasets: readonly DatasetStatus[];
  /**
   * The current findings by state, component and dataset, with the oldest of each group; empty if there is no
   * problem.
   */
  readonly findings: readonly FindingGroup[];
  /** The last failure of each target that failed within a day; the newest ten. */
  readonly recent_failures: readonly { dataset: string; target: string; at: Date; error: string | null }[];
  readonly budgets: readonly {
    upstream: string;
    minute_units: number;
    day_units: number;
    blocked_until: Date | null;
    /** The header that set `blocked_until`. */
    blocked_by: string | null;
  }[];
  readonly quarantined: number;
  readonly gaps: number;
  /** The newest seal; null: nothing is sealed yet. */
  readonly seal: { seal: number; sealed_until: Date; head: string; signed: boolean } | null;
  /**
   * Number of targets, counted for each dataset, that have not been recorded for longer than three of their
   * intervals.
   */
  readonly late_targets: number;
  readonly failing_targets: number;
  readonly incomplete_targets: number;
  /** Number of stalled ledgers, schedules, seals and checks, including the recording as a whole. */
  readonly stalled: number;
  /** The number of open discrepancies between sources, by check. */
  readonly discrepancies: readonly DiscrepancyCount[];
  /** The replicas from which pages, reports and exports of a running process read. */
  readonly replicas: readonly SeenReplica[];
}

export interface SeenReplica {
  readonly replica: string;
  /** The replication lag; null if unknown. */
  readonly lag_seconds: number | null;
  readonly lag_bytes: number | null;
  /** Reason why the replica is not used, or should not be used; null if there is no problem. */
  readonly error: string | null;
}

export interface DatasetStatus {
  readonly dataset: string;
  readonly targets: number;
  readonly last_success_at: Date | null;
  /**
   * Seconds by which the most overdue target is late. Targets that the upstream does not offer are not
   * counted.
   */
  readonly late_by: number | null;
  readonly never_recorded: number;
  readonly failing: number;
  readonly incomplete: number;
  /**
   * Number of members that are missing, and that stay current until a later observation confirms their
   * absence.
   */
  readonly unconfirmed_departures: number;
  readonly unsupported: number;
  /** Rows written today (UTC). */
  readonly rows_today: number;
}

/**
 * Reads the state of the recording from `reporting`. The cost of the queries depends on the number of
 * targets, not on the number of recorded rows.
 * @param mine the budgets to show; budgets of URLs that are no longer in use are omitted
 */
export async function statusOf(sql: postgres.Sql, mine: readonly BudgetKey[]): Promise<Status> {
  const [datasets, findings, recent_failures, budgets, [counts], [seal], discrepancies, replicas] =
    await Promise.all([
      sql<DatasetStatus[]>`
      select f.dataset, count(*)::int as targets, max(f.last_success_at) as last_success_at,
        extract(epoch from max(f.late_by) filter (where f.unsupported_reason is null))::float8 as late_by,
        (count(*) filter (where f.last_success_at is null and f.unsupported_reason is null))::int as never_recorded,
        (count(*) filter (where f.failures > 0))::int as failing,
        (count(*) filter (where f.incomplete_since is not null))::int as incomplete,
        sum(f.unconfirmed_departures)::int as unconfirmed_departures,
        (count(*) filter (where f.unsupported_reason is not null))::int as unsupported,
        sum(f.rows_today)::float8 as rows_today
      from reporting.freshness f group by f.dataset order by f.dataset`,
      findingGroups(sql),
      sql<{ dataset: string; target: string; at: Date; error: string | null }[]>`
      select dataset, target, last_failure_at as at, last_failure as error from reporting.freshness
      where last_failure_at > now() - interval '1 day' and unsupported_reason is null
      order by last_failure_at desc, dataset, target limit 10`,
      sql<Status['budgets'][number][]>`
      select upstream, minute_units::float8, day_units::float8,
        case when blocked_until > now() then blocked_until end as blocked_until,
        case when blocked_until > now() then blocked_by end as blocked_by
      from recorder.budgets join unnest(${mine.map(({ upstream }) => upstream)}::text[],
        ${mine.map(({ endpoint }) => endpoint)}::text[]) as mine(upstream, endpoint) using (upstream, endpoint)
      order by upstream`,
      sql<{ quarantined: number; gaps: number }[]>`
      select (select count(*) from reporting.quarantine)::int as quarantined,
        (select count(*) from reporting.gaps)::int as gaps`,
      sql<{ seal: number; sealed_until: Date; head: string; signed: boolean }[]>`
      select seal, sealed_until, head, signature is not null as signed from reporting_internal.seal_heads order by seal desc limit 1`,
      discrepancyCounts(sql),
      sql<SeenReplica[]>`
      select replica, lag_seconds, lag_bytes::float8, error from reporting_internal.replicas
      where now() - seen_at <= interval '1 minute' order by replica`,
    ]);
  const inState = (state: FindingState) =>
    sumOf(findings.filter((one: Finding) => one.state === state && !NOT_OF_THE_RECORDING.has(one.component)));
  return {
    datasets,
    findings,
    recent_failures,
    budgets,
    quarantined: counts?.quarantined ?? 0,
    gaps: counts?.gaps ?? 0,
    seal: seal ?? null,
    late_targets: inState('late'),
    failing_targets: inState('failing'),
    incomplete_targets: inState('incomplete'),
    stalled: inState('stalled'),
    discrepancies,
    replicas,
  };
}

const sumOf = (groups: readonly FindingGroup[]) => groups.reduce((sum, { count }) => sum + count, 0);
