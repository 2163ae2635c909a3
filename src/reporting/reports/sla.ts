import type postgres from 'postgres';
import type { NodeIncident } from './nodes/node-record.ts';
import { thousandths } from './nodes/windows.ts';
import { networkViews, type RewardThresholds, type StakeView, type ValidationView } from './rewards.ts';
import { momentOf, type QuorumUptime, type ReportWindow, readQuorumUptime, spanText } from './uptime.ts';

const DAY = 86_400_000;

/** An incident, with the names of the failed checks. */
export interface SlaIncident extends Omit<NodeIncident, 'checks'> {
  readonly failed_checks: readonly string[];
}

/** A note of a person about a node: a row of `reporting.incident_notes`. */
export interface SlaNote {
  readonly at: Date;
  readonly author: string;
  readonly note: string;
}

/** A window of maintenance, limited to the reported time. */
export interface SlaMaintenance {
  readonly started_at: Date;
  readonly ended_at: Date;
  /**
   * Reason of an announcement by command. Null: no reason was given, or the window is from the configuration.
   */
  readonly reason: string | null;
}

/** The uptime of a node in a month, compared with the target. */
export interface NodeSla extends QuorumUptime {
  /** `open`: the unknown time could change the result, or the month is not over. */
  readonly verdict: 'met' | 'missed' | 'open';
  /** Allowed downtime in the watched part of the month, in seconds. */
  readonly budget_seconds: number;
  /** The remaining budget, in seconds. Negative: the budget is overspent. */
  readonly budget_left_seconds: number;
  /** Lower bound of the remaining budget, in seconds, which counts unknown time as down. */
  readonly budget_left_at_least_seconds: number;
  readonly p50_ms: number | null;
  readonly p99_ms: number | null;
  readonly incidents: readonly SlaIncident[];
  readonly notes: readonly SlaNote[];
  readonly maintenance: readonly SlaMaintenance[];
  /** The uptime of each probe; the first is the probe of the whole node. */
  readonly probes: readonly QuorumUptime[];
}

export interface SlaReport {
  /** The month, such as `2026-11`. */
  readonly month: string;
  readonly from: Date;
  /** The end of the month, or the time of the report. */
  readonly to: Date;
  readonly complete: boolean;
  readonly made_at: Date;
  /** The newest seal at the time of the report (docs/explanation/seals.md); null: nothing was sealed. */
  readonly seal: { readonly seal: number; readonly sealed_until: Date; readonly head: string } | null;
  readonly target_percent: number;
  readonly nodes: readonly NodeSla[];
  readonly validations: readonly ValidationView[];
  readonly stake: readonly StakeView[];
}

/**
 * Creates the report of a month that has started.
 * @param now in ms since 1970
 * @param target in percent
 * @param asOf reproduces the report as of this moment; `now` must then be the same moment. Null: all current
 * knowledge
 */
export async function slaReport(
  sql: postgres.Sql,
  month: ReportWindow,
  now: number,
  target: number,
  thresholds: RewardThresholds,
  asOf: string | null = null,
): Promise<SlaReport> {
  const window = { from: month.from, to: Math.min(month.to, now) };
  const complete = now >= month.to;
  const [from, to] = [new Date(window.from), new Date(window.to)];
  // Hourly data is kept for some weeks only, daily data forever.
  const timed = asOf === null ? to : new Date(window.to - (window.to % DAY));
  const [quorum, incidents, notes, maintenance, latency, views, [seal]] = await Promise.all([
    readQuorumUptime(sql, window, null, asOf),
    sql<SlaIncident[]>`
      select node, started_at, ended_at, duration_seconds::float8, unknown_seconds::float8, failed_checks, first_error, last_error, noticed_by
      from reporting.node_incidents_as_of(${momentOf(asOf)}::text::timestamptz)
      where probe = 'health' and started_at < ${to} and coalesce(ended_at, 'infinity') > ${from} order by started_at`,
    sql<(SlaNote & { node: string })[]>`
      select node, at, author, note from reporting.incident_notes
      where at >= ${from} and at < ${to} and written_at <= ${new Date(now)} order by at, id`,
    sql<(SlaMaintenance & { node: string })[]>`
      select node, lower(part) as started_at, upper(part) as ended_at, (
        select string_agg(distinct reason, '; ' order by reason) from reporting_internal.node_maintenance announced
        where coalesce(announced.node, windows.node) = windows.node and announced_at <= ${new Date(now)}
          and starts_at < upper(part) and ends_at > lower(part)) as reason
      from (
        select node, unnest(range_agg(tstzrange(started_at, ended_at))) as part
        from reporting_internal.node_quorum_states_in(${from}, ${to}) where probe = 'health' and state = 'maintenance'
        group by node) windows order by started_at`,
    sql<{ node: string; p50: number; p99: number }[]>`
      select node, max(p50)::float8 as p50, max(p99)::float8 as p99 from reporting.node_latency(${from}, ${timed})
      where probe = 'health' group by node`,
    networkViews(sql, thresholds, complete ? to.toISOString() : asOf),
    sql<{ seal: number; sealed_until: Date; head: string }[]>`
      select seal, sealed_until, head from reporting_internal.seal_heads where sealed_at <= ${new Date(now)}
      order by seal desc limit 1`,
  ]);
  const isInMonth = ({ observed_at }: { readonly observed_at: Date }) => observed_at >= from;
  return {
    month: from.toISOString().slice(0, 7),
    from,
    to,
    complete,
    made_at: new Date(now),
    seal: seal ?? null,
    target_percent: target,
    nodes: quorum
      .filter(({ probe }) => probe === 'health')
      .map((uptime) => {
        // The part of the month in which the node is watched.
        const end = uptime.until < to ? uptime.until.getTime() : month.to;
        const length = (end - uptime.since.getTime()) / 1000;
        const budget = thousandths((length - uptime.maintenance_seconds) * (1 - target / 100));
        const left = thousandths(budget - uptime.down_seconds);
        const leftAtLeast = thousandths(left - uptime.unknown_seconds);
        const speed = latency.find(({ node }) => node === uptime.node);
        return {
          ...uptime,
          verdict: verdictOf(left, leftAtLeast, complete),
          budget_seconds: budget,
          budget_left_seconds: left,
          budget_left_at_least_seconds: leftAtLeast,
          p50_ms: speed?.p50 ?? null,
          p99_ms: speed?.p99 ?? null,
          incidents: incidents.filter(({ node }) => node === uptime.node),
          notes: notes.filter(({ node }) => node === uptime.node).map(({ node: _, ...note }) => note),
          maintenance: maintenance
            .filter(({ node }) => node === uptime.node)
            .map(({ node: _, ...window }) => window),
          probes: quorum.filter(({ node }) => node === uptime.node),
        };
      }),
    validations: views.validations.filter(isInMonth),
    stake: views.stake.filter(isInMonth),
  };
}

/** Returns the part of a report about one node. */
export function selectNode(report: SlaReport, name: string): SlaReport {
  const isSelected = ({ node }: { readonly node: string }) => node === name;
  return {
    ...report,
    nodes: report.nodes.filter(isSelected),
    validations: report.validations.filter(isSelected),
    stake: report.stake.filter(isSelected),
  };
}

function verdictOf(left: number, leftAtLeast: number, complete: boolean): NodeSla['verdict'] {
  if (left < 0) return 'missed';
  return complete && leftAtLeast >= 0 ? 'met' : 'open';
}

/** Renders the remaining error budget; as a range if some of the time is unknown. */
export function budgetText({ budget_left_seconds, budget_left_at_least_seconds }: NodeSla): string {
  if (budget_left_seconds < 0) return `overspent by ${spanText(-budget_left_seconds)}`;
  if (budget_left_seconds === budget_left_at_least_seconds) return spanText(budget_left_seconds);
  return `${spanText(Math.max(0, budget_left_at_least_seconds))} to ${spanText(budget_left_seconds)}`;
}
