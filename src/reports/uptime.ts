import type postgres from 'postgres';

/** How a probe fared in a window: exact seconds, and shares from 0 to 1. */
export interface Uptime {
  readonly node: string;
  readonly probe: string;
  readonly up_seconds: number;
  readonly down_seconds: number;
  readonly unknown_seconds: number;
  readonly maintenance_seconds: number;
  /** Null: nobody saw it up or down. */
  readonly uptime: number | null;
  readonly uptime_lower: number | null;
  readonly uptime_upper: number | null;
  readonly coverage: number;
}

/** The same as one observer saw it. */
export interface ObservedUptime extends Uptime {
  readonly observer: string;
}

/** The same by the majority of those that looked. */
export interface QuorumUptime extends Uptime {
  readonly observers: number;
  readonly disagreement_seconds: number;
}

/** A window of wall time, ms since 1970. */
export interface ReportWindow {
  readonly from: number;
  readonly to: number;
}

const NUMBERS =
  'up_seconds::float8, down_seconds::float8, unknown_seconds::float8, maintenance_seconds::float8, uptime::float8, uptime_lower::float8, uptime_upper::float8, coverage::float8';

/** The uptime of every probe as each observer saw it. @param node only this one */
export async function uptimeOf(
  sql: postgres.Sql,
  { from, to }: ReportWindow,
  node: string | null,
): Promise<ObservedUptime[]> {
  return sql<ObservedUptime[]>`
    select node, probe, observer, ${sql.unsafe(NUMBERS)} from reporting.node_uptime(${new Date(from)}, ${new Date(to)})
    where ${node}::text is null or node = ${node} order by node, probe <> 'health', probe, observer`;
}

/** The uptime of every node as a whole, by the majority of its observers. @param node only this one */
export async function quorumOf(
  sql: postgres.Sql,
  { from, to }: ReportWindow,
  node: string | null,
): Promise<QuorumUptime[]> {
  return sql<QuorumUptime[]>`
    select node, probe, observers::int, disagreement_seconds::float8, ${sql.unsafe(NUMBERS)}
    from reporting.node_quorum(${new Date(from)}, ${new Date(to)})
    where probe = 'health' and (${node}::text is null or node = ${node}) order by node`;
}

/**
 * A share in percent, rounded down: nothing is called 100 % that is not.
 * @param share 0 to 1
 */
export function percentText(share: number): string {
  return `${(Math.floor(share * 100_000 + 1e-6) / 1000).toFixed(3)} %`;
}

/** What can be said of an uptime in a word: where time is unknown, only what it was at least. */
export function achievedText({ uptime, uptime_lower, unknown_seconds }: Uptime): string {
  if (uptime === null || uptime_lower === null) return 'unknown';
  return unknown_seconds > 0 ? `≥ ${percentText(uptime_lower)}` : percentText(uptime);
}

/** Seconds for people: `2 d 3 h`, `5 h 4 min`, `3 min 2 s`, `1.5 s`. */
export function spanText(seconds: number): string {
  const sign = seconds < 0 ? '−' : '';
  const rest = Math.abs(seconds);
  if (rest < 60) return `${sign}${Math.round(rest * 1000) / 1000} s`;
  const whole = Math.round(rest);
  const [days, hours, minutes] = [
    Math.floor(whole / 86_400),
    Math.floor(whole / 3600) % 24,
    Math.floor(whole / 60) % 60,
  ];
  if (days > 0) return `${sign}${days} d ${hours} h`;
  return hours > 0 ? `${sign}${hours} h ${minutes} min` : `${sign}${minutes} min ${whole % 60} s`;
}
