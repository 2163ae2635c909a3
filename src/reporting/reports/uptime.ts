import type postgres from 'postgres';
import { UsageError } from '../../lib/errors.ts';

/** The uptime of a probe in a window: exact seconds, and shares from 0 to 1. */
export interface Uptime {
  readonly node: string;
  readonly probe: string;
  readonly up_seconds: number;
  readonly down_seconds: number;
  readonly unknown_seconds: number;
  readonly maintenance_seconds: number;
  /** Share of time up. Null: the probe was observed neither as up nor as down. */
  readonly uptime: number | null;
  readonly uptime_lower: number | null;
  readonly uptime_upper: number | null;
  readonly coverage: number;
  /** Start of the part of the window in which the node was watched. */
  readonly since: Date;
  /** End of the watched part. */
  readonly until: Date;
}

/** The uptime as observed by one observer. */
export interface ObservedUptime extends Uptime {
  readonly observer: string;
}

/** The uptime by the majority of the observers that probed. */
export interface QuorumUptime extends Uptime {
  readonly observers: number;
  readonly disagreement_seconds: number;
}

/** A time window, in ms since 1970. */
export interface ReportWindow {
  readonly from: number;
  readonly to: number;
}

const NUMBERS =
  'up_seconds::float8, down_seconds::float8, unknown_seconds::float8, maintenance_seconds::float8, uptime::float8, uptime_lower::float8, uptime_upper::float8, coverage::float8, since, until';

/** The moment that represents all current knowledge. */
const NOW = 'infinity';
/** Returns a moment as the text of an SQL parameter; null: {@link NOW}. */
export const momentOf = (asOf: string | null): string => asOf ?? NOW;

/**
 * Checks that the uptime until a moment no longer changes.
 * @throws UsageError if no node was watched until then, or the record until then is not settled
 */
export async function requireSettled(sql: postgres.Sql, asOf: string): Promise<void> {
  // An observer that stopped more than a day ago is ignored: the time that it missed stays unknown.
  const [row] = await sql<{ since: Date | null; settled: Date | null; early: boolean; late: boolean }[]>`
    select since, settled, ${asOf}::text::timestamptz < since as early, ${asOf}::text::timestamptz > settled as late
    from (select (select min(started_at) from reporting_internal.node_health_ledger) as since,
      (select min(p.settled_until) from reporting_internal.node_probes p join reporting_internal.node_observers o using (observer)
        where o.watching or p.settled_until > now() - interval '1 day') as settled) ledger`;
  const { since = null, settled = null, early, late } = row ?? {};
  const option = `--as-of ${asOf}`;
  if (since === null) throw new UsageError([`${option}: no node has been watched yet`]);
  if (early)
    throw new UsageError([
      `${option}: there is no record of that time: nodes have been watched since ${since.toISOString()}`,
    ]);
  if (settled !== null && late)
    throw new UsageError([
      `${option}: states of that time may still change: the ledger is settled until ${settled.toISOString()}`,
    ]);
}

/**
 * Returns the uptime of every probe as observed by each observer.
 * @param node only this node; null: all
 * @param asOf the result as of this moment, which must not be before the end of the window; null: now
 */
export async function readUptime(
  sql: postgres.Sql,
  { from, to }: ReportWindow,
  node: string | null,
  asOf: string | null = null,
): Promise<ObservedUptime[]> {
  return sql<ObservedUptime[]>`
    select u.node, u.probe, u.observer, ${sql.unsafe(NUMBERS)}
    from reporting.node_uptime(${new Date(from)}, ${new Date(to)}) u
    where (${node}::text is null or u.node = ${node})
      and (${asOf === null} or exists (select from reporting_internal.node_health_ledger l
        where (l.observer, l.node, l.probe) = (u.observer, u.node, u.probe) and l.started_at < ${momentOf(asOf)}::text::timestamptz))
    order by u.node, u.probe <> 'health', u.probe, u.observer`;
}

/**
 * Returns the uptime of every probe, by the majority of its observers; the probe of the whole node is the
 * first of each node.
 * @param node only this node; null: all
 * @param asOf the result as of this moment, which must not be before the end of the window; null: now
 */
export async function readQuorumUptime(
  sql: postgres.Sql,
  { from, to }: ReportWindow,
  node: string | null,
  asOf: string | null = null,
): Promise<QuorumUptime[]> {
  return sql<QuorumUptime[]>`
    select u.node, u.probe, case when ${asOf === null} then u.observers else then_watching.observers end::int as observers,
      u.disagreement_seconds::float8, ${sql.unsafe(NUMBERS)}
    from reporting.node_quorum(${new Date(from)}, ${new Date(to)}) u
    cross join lateral (select count(distinct l.observer) as observers from reporting_internal.node_health_ledger l
      where not ${asOf === null} and (l.node, l.probe) = (u.node, u.probe) and l.started_at < ${momentOf(asOf)}::text::timestamptz) then_watching
    where (${node}::text is null or u.node = ${node}) and (${asOf === null} or then_watching.observers > 0)
    order by u.node, u.probe <> 'health', u.probe`;
}

/**
 * Formats a share in percent, rounded down, so that less than 100 % never appears as 100 %.
 * @param share 0 to 1
 */
export function percentText(share: number): string {
  return `${(Math.floor(share * 100_000 + 1e-6) / 1000).toFixed(3)} %`;
}

/** Formats an uptime; if some time is unknown, its lower bound. */
export function achievedText({
  uptime,
  uptime_lower,
  unknown_seconds,
}: Pick<Uptime, 'uptime' | 'uptime_lower' | 'unknown_seconds'>): string {
  if (uptime === null || uptime_lower === null) return 'unknown';
  return unknown_seconds > 0 ? `≥ ${percentText(uptime_lower)}` : percentText(uptime);
}

/**
 * Formats the duration of an incident, and the part in which the state of the node was unknown. Input in
 * seconds.
 */
export function lastedText(incident: {
  readonly duration_seconds: number;
  readonly unknown_seconds: number;
}): string {
  const { duration_seconds, unknown_seconds } = incident;
  const unobserved = unknown_seconds > 0 ? `, unobserved for ${spanText(unknown_seconds)}` : '';
  return `${spanText(duration_seconds)}${unobserved}`;
}

/** Formats seconds for people: `2 d 3 h`, `5 h 4 min`, `3 min 2 s`, `1.5 s`. */
export function spanText(seconds: number): string {
  const sign = seconds < 0 ? '−' : '';
  const rest = Math.abs(seconds);
  if (rest < 60) return `${sign}${Math.round(rest * 1000) / 1000} s`;
  const rounded = Math.round(rest);
  const [days, hours, minutes] = [
    Math.floor(rounded / 86_400),
    Math.floor(rounded / 3600) % 24,
    Math.floor(rounded / 60) % 60,
  ];
  if (days > 0) return `${sign}${days} d ${hours} h`;
  return hours > 0 ? `${sign}${hours} h ${minutes} min` : `${sign}${minutes} min ${rounded % 60} s`;
}
