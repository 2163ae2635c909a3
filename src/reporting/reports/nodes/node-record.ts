import type postgres from 'postgres';
import { latencySpan } from './latency-span.ts';
import type { Span, StateSpan } from './windows.ts';

/** Response times, ms: of the slowest observer where there are several. */
export interface Latency {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** Looks that are counted. */
  readonly probes: number;
  /** The time over which they are counted: what was asked for, as far as hours and days are told apart. */
  readonly over: Span;
}

/** A check that a node names, as an observer saw it last. */
export interface NodeCheck {
  readonly node: string;
  readonly check: string;
  readonly observer: string;
  readonly state: string;
  readonly since: Date;
  /** In the node's latest words. */
  readonly error: string | null;
}

/** An incident, in the node's own words. */
export interface NodeIncident {
  readonly node: string;
  readonly started_at: Date;
  /** Null: it lasts. */
  readonly ended_at: Date | null;
  readonly duration_seconds: number;
  /** Of it, as far as no observer could tell how the node was. */
  readonly unknown_seconds: number;
  readonly first_error: string | null;
  readonly last_error: string | null;
  readonly noticed_by: readonly string[];
  /** What each failed check said, by its name. */
  readonly checks: Readonly<Record<string, { first_error: string | null; last_error: string | null }>>;
}

/** The newest seal of the record, with what it holds of node_health; null: nothing is sealed yet. */
export interface SealHead {
  readonly seal: number;
  readonly sealed_until: Date;
  readonly head: string;
  readonly signed: boolean;
  /** The head of node_health alone. */
  readonly ledger_head: string | null;
}

/** The probe that speaks for a node. */
export const HEALTH = 'health';

/** What the observers of each node said together, oldest first. @param node only this one; null: all */
export async function stateSpans(
  sql: postgres.Sql,
  { from, to }: Span,
  node: string | null,
): Promise<ReadonlyMap<string, readonly StateSpan[]>> {
  const rows = await sql<{ node: string; state: StateSpan['state']; started_at: Date; ended_at: Date }[]>`
    select node, state, started_at, ended_at
    from reporting.node_quorum_states_in(${new Date(from)}, ${new Date(to)})
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
 * Response times by node, of each of some ranges and the hours or days that it cuts.
 * @param node only this one; null: all
 * @param now ms since 1970
 */
export async function latencies(
  sql: postgres.Sql,
  ranges: readonly Span[],
  node: string | null,
  now: number,
): Promise<readonly ReadonlyMap<string, Latency>[]> {
  const asked = ranges.map((range) => latencySpan(range, now));
  const instants = (of: keyof Span) => asked.map((span) => new Date(span[of]).toISOString());
  const rows = await sql<({ at: number; node: string } & Omit<Latency, 'over'>)[]>`
    select a.at::int, l.node, max(l.p50)::float8 as p50, max(l.p95)::float8 as p95, max(l.p99)::float8 as p99,
      sum(l.probes)::float8 as probes
    from unnest(${instants('from')}::text[]::timestamptz[], ${instants('to')}::text[]::timestamptz[])
      with ordinality as a (begins, ends, at)
    cross join lateral reporting.node_latency(a.begins, a.ends) l
    where l.probe = ${HEALTH} ${node === null ? sql`` : sql`and l.node = ${node}`}
    group by a.at, l.node`;
  return asked.map(({ from, to }, index) => {
    const over = { from, to: Math.min(to, now) };
    const found = rows.filter(({ at }) => at === index + 1);
    return new Map(found.map(({ at: _, node: of, ...latency }) => [of, { ...latency, over }]));
  });
}

/** The checks that nodes name, the failing ones first. What nobody watches is unknown. */
export async function nodeChecks(sql: postgres.Sql, node: string | null): Promise<NodeCheck[]> {
  return [
    ...(await sql<NodeCheck[]>`
      select h.node, h.check_name as check, h.observer, case when o.watching then h.state else 'unknown' end as state,
        h.since, h.last_error as error
      from reporting.node_health h join reporting.node_observers o using (observer)
      where h.probe = ${HEALTH} and h.check_name <> '*' ${node === null ? sql`` : sql`and h.node = ${node}`}
      order by h.node, h.state <> 'down', h.check_name, h.observer`),
  ];
}

/** The incidents of nodes that touch a range, newest first. @param most not more than these */
export async function incidentsIn(
  sql: postgres.Sql,
  { from, to }: Span,
  nodes: readonly string[],
  most: number,
): Promise<NodeIncident[]> {
  return [
    ...(await sql<NodeIncident[]>`
      select node, started_at, ended_at, duration_seconds::float8, unknown_seconds::float8, first_error, last_error, noticed_by, checks
      from reporting.node_incidents
      where probe = ${HEALTH} and node = any(${[...nodes]}::text[])
        and started_at < ${new Date(to)} and coalesce(ended_at, 'infinity') > ${new Date(from)}
      order by started_at desc, node limit ${most}`),
  ];
}

/** The newest seal that was made. */
export async function sealHead(sql: postgres.Sql): Promise<SealHead | null> {
  const [head] = await sql<SealHead[]>`
    select h.seal, h.sealed_until, h.head, h.signature is not null as signed,
      (select s.head from reporting.seals s where s.dataset = 'node_health' and s.seal <= h.seal
        order by s.seal desc limit 1) as ledger_head
    from reporting.seal_heads h order by h.seal desc limit 1`;
  return head ?? null;
}
