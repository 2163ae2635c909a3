import type postgres from 'postgres';
import { type ObservedUptime, readUptime } from '../uptime.ts';
import { incidentsIn, type Latency, latencies, type NodeIncidents, stateSpans } from './node-record.ts';
import { type Span, splitIntoWindows, statesIn, type WindowGrain, type WindowStates } from './windows.ts';

/** Consecutive probes of a node with the same result. */
export interface ProbeResults {
  readonly observer: string;
  readonly state: string;
  readonly started_at: Date;
  /** The time of the next different result, or the time up to which the result is settled. */
  readonly ended_at: Date;
  /** True if the result is still current. */
  readonly is_open: boolean;
  readonly probes: number;
  readonly error: string | null;
  readonly last_error: string | null;
}

export interface NodeRange extends Span {
  readonly node: string;
  readonly grain: WindowGrain;
  readonly first_probe_at: Date | null;
  /** States over the whole range, up to now. */
  readonly whole: WindowStates;
  readonly windows: readonly WindowStates[];
  /** Response times; null: no probe was counted. */
  readonly latency: Latency | null;
  readonly observed: readonly ObservedUptime[];
  readonly incidents: NodeIncidents;
  /** The newest probe results of the range. */
  readonly probeResults: readonly ProbeResults[];
  /** True if the range has older results. */
  readonly more: boolean;
}

const MAX_PROBE_RESULTS = 100;
const MAX_INCIDENTS = 100;

/** Returns the time of the first probe of a node. Returns null if there was none. */
export async function readFirstProbe(sql: postgres.Sql, node: string): Promise<Date | null> {
  const [row] = await sql<{ at: Date | null }[]>`
    select min(first_probe_at) as at from reporting_internal.node_probes where node = ${node} and probe = 'health'`;
  return row?.at ?? null;
}

/**
 * Reads the record of a node over a range.
 * @param range not empty; its start must be before `now`
 * @param now in ms since 1970
 */
export async function nodeRange(
  sql: postgres.Sql,
  node: string,
  range: Span,
  grain: WindowGrain,
  firstProbeAt: Date | null,
  now: number,
): Promise<NodeRange> {
  const { from, to } = range;
  const spans = (await stateSpans(sql, range, node)).get(node) ?? [];
  const [whole] = statesIn(spans, [range], firstProbeAt?.getTime() ?? null);
  if (!whole) throw new Error('the range of a node record is empty: the end must be after the start');
  const [latency] = await latencies(sql, [range], node, now);
  const probeResults = await sql<ProbeResults[]>`
    select observer, state, started_at, ended_at, is_open, probes::float8, error, last_error
    from reporting_internal.node_states
    where node = ${node} and probe = 'health' and interval_started_at < ${new Date(to)}
      and interval_ended_at > ${new Date(from)} and started_at < ${new Date(to)} and ended_at > ${new Date(from)}
    order by started_at desc, observer limit ${MAX_PROBE_RESULTS + 1}`;
  return {
    node,
    ...range,
    grain,
    first_probe_at: firstProbeAt,
    whole,
    windows: statesIn(spans, splitIntoWindows(range, grain), firstProbeAt?.getTime() ?? null),
    latency: latency?.get(node) ?? null,
    observed: await readUptime(sql, range, node),
    incidents: await incidentsIn(sql, range, [node], MAX_INCIDENTS),
    probeResults: probeResults.slice(0, MAX_PROBE_RESULTS),
    more: probeResults.length > MAX_PROBE_RESULTS,
  };
}
