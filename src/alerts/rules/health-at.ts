import type postgres from 'postgres';

/**
 * SQL: what observers said of nodes, and of each of their checks, at a moment (reporting.node_health_as_of), with `tells`: whether
 * it says anything. A look that ended without an answer of the node's own does not, nor does one that is older than 5 minutes.
 */
export const looksAt = (sql: postgres.Sql, at: Date, nodes: readonly string[]) => sql`
  select l.*, l.state <> 'unknown' and l.observed_at > ${at}::timestamptz - interval '5 minutes' as tells
  from reporting.node_health_as_of(${at}::timestamptz) l
  where (l.probe = 'health' or l.probe like 'health:%') and l.node = any(${[...nodes]}::text[])`;
