import type postgres from 'postgres';
import { WEEKS_KEPT } from '../../../health/latency-store.ts';
import type { Span, StateSpan } from './windows.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/**
 * Returns the shortest range around a range for which response times are available. Response times are
 * stored by hour, and after some weeks by day.
 * @param now in ms since 1970
 */
function latencySpan({ from, to }: Span, now: number): Span {
  const unitAt = (at: number) => (at < now - WEEKS_KEPT * 7 * DAY ? DAY : HOUR);
  return {
    from: Math.floor(from / unitAt(from)) * unitAt(from),
    to: Math.ceil(to / unitAt(to)) * unitAt(to),
  };
}

/** Response times in ms; the maximum over all observers. */
export interface Latency {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly probes: number;
  /** The range of the counted probes: the requested range, extended to whole hours or days. */
  readonly over: Span;
}

/** A check of the health report of a node, as last observed by an observer. */
export interface NodeCheck {
  readonly node: string;
  readonly check: string;
  readonly observer: string;
  readonly state: string;
  readonly since: Date;
  /** The latest error message of the node. */
  readonly error: string | null;
}

/** An incident, with the error messages of the node. */
export interface NodeIncident {
  readonly node: string;
  readonly started_at: Date;
  /** Null: the incident is open. */
  readonly ended_at: Date | null;
  readonly duration_seconds: number;
  /** The part in which no observer could determine the state of the node. */
  readonly unknown_seconds: number;
  readonly first_error: string | null;
  readonly last_error: string | null;
  readonly noticed_by: readonly string[];
  /** The error messages of each failed check, by its name. */
  readonly checks: Readonly<Record<string, { first_error: string | null; last_error: string | null }>>;
}

/** The newest incidents, newest first, and the number of all incidents. */
export interface NodeIncidents {
  readonly newest: readonly NodeIncident[];
  readonly count: number;
}

/** The newest seal of the recorded data, and its part for node_health. */
export interface SealHead {
  readonly seal: number;
  readonly sealed_until: Date;
  readonly head: string;
  readonly signed: boolean;
  /** The head of node_health alone. */
  readonly ledger_head: string | null;
}

/** The probe that determines the state of a node. */
export const HEALTH = 'health';

/**
 * Reads the combined state of each node over all observers, oldest first.
 * @param node only this node; null: all nodes
 */
export async function stateSpans(
  sql: postgres.Sql,
  { from, to }: Span,
  node: string | null,
): Promise<ReadonlyMap<string, readonly StateSpan[]>> {
  const rows = await sql<{ node: string; state: StateSpan['state']; started_at: Date; ended_at: Date }[]>`
    select node, state, started_at, ended_at
    from reporting_internal.node_quorum_states_in(${new Date(from)}, ${new Date(to)})
    where probe = ${HEALTH} ${node === null ? sql`` : sql`and node = ${node}`}
    order by node, started_at`;
  const spans = new Map<string, StateSpan[]>();
  for (const { node: of, state, started_at, ended_at } of rows) {
    const known = spans.get(of) ?? [];
    known.push({ state, from: started_at.getTime(), to: ended_at.getTime() });
    spans.set(of, known);
  }
  return spans;
}

/**
 * Reads response times by node, for several ranges, each extended to whole hours or days.
 * @param node only this node; null: all nodes
 * @param now in ms since 1970
 */
export async function latencies(
  sql: postgres.Sql,
  ranges: readonly Span[],
  node: string | null,
  now: number,
): Promise<readonly ReadonlyMap<string, Latency>[]> {
  const latencySpans = ranges.map((range) => latencySpan(range, now));
  const instants = (of: keyof Span) => latencySpans.map((span) => new Date(span[of]).toISOString());
  const rows = await sql<({ at: number; node: string } & Omit<Latency, 'over'>)[]>`
    select a.at::int, l.node, max(l.p50)::float8 as p50, max(l.p95)::float8 as p95, max(l.p99)::float8 as p99,
      sum(l.probes)::float8 as probes
    from unnest(${instants('from')}::text[]::timestamptz[], ${instants('to')}::text[]::timestamptz[])
      with ordinality as a (begins, ends, at)
    cross join lateral reporting.node_latency(a.begins, a.ends) l
    where l.probe = ${HEALTH} ${node === null ? sql`` : sql`and l.node = ${node}`}
    group by a.at, l.node`;
  return latencySpans.map(({ from, to }, index) => {
    const over = { from, to: Math.min(to, now) };
    const found = rows.filter(({ at }) => at === index + 1);
    return new Map(found.map(({ at: _, node: of, ...latency }) => [of, { ...latency, over }]));
  });
}

/** Returns the checks of nodes, failing checks first. Checks that no observer watches are unknown. */
export async function readNodeChecks(sql: postgres.Sql, node: string | null): Promise<NodeCheck[]> {
  return sql<NodeCheck[]>`
    select h.node, h.check_name as check, h.observer, case when o.watching then h.state else 'unknown' end as state,
      h.since, h.last_error as error
    from reporting.node_health h join reporting_internal.node_observers o using (observer)
    where h.probe = ${HEALTH} and h.check_name <> '*' ${node === null ? sql`` : sql`and h.node = ${node}`}
    order by h.node, h.state <> 'down', h.check_name, h.observer`;
}

/** Returns the newest incidents of nodes that overlap a range. @param most maximum number */
export async function incidentsIn(
  sql: postgres.Sql,
  { from, to }: Span,
  nodes: readonly string[],
  most: number,
): Promise<NodeIncidents> {
  const rows = await sql<(NodeIncident & { all: number })[]>`
    select node, started_at, ended_at, duration_seconds::float8, unknown_seconds::float8, first_error, last_error, noticed_by, checks,
      (count(*) over ())::int as all
    from reporting.node_incidents
    where probe = ${HEALTH} and node = any(${[...nodes]}::text[])
      and started_at < ${new Date(to)} and coalesce(ended_at, 'infinity') > ${new Date(from)}
    order by started_at desc, node limit ${most}`;
  return { newest: rows.map(({ all: _, ...incident }) => incident), count: rows[0]?.all ?? 0 };
}

/** Returns the newest seal, or null if nothing is sealed yet. */
export async function sealHead(sql: postgres.Sql): Promise<SealHead | null> {
  const [head] = await sql<SealHead[]>`
    select h.seal, h.sealed_until, h.head, h.signature is not null as signed,
      (select s.head from reporting.seals s where s.dataset = 'node_health' and s.seal <= h.seal
        order by s.seal desc limit 1) as ledger_head
    from reporting_internal.seal_heads h order by h.seal desc limit 1`;
  return head ?? null;
}
