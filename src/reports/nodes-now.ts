import type postgres from 'postgres';

/** How a node is now: a row of `reporting.node_health_now`. */
export interface NodeNow {
  readonly node: string;
  readonly health: NodeState | null;
  readonly readiness: NodeState | null;
  readonly liveness: NodeState | null;
  /** Since when its health is so; null: nobody watches it. */
  readonly since: Date | null;
  readonly error: string | null;
  readonly failing_checks: readonly string[];
  readonly observed_at: Date | null;
}

export type NodeState = 'up' | 'down' | 'unknown' | 'maintenance';

/** How each node is now: those that are down first, then those of which nobody knows. */
export async function nodesNow(sql: postgres.Sql): Promise<NodeNow[]> {
  const rows = await sql<NodeNow[]>`
    select node, health, readiness, liveness, since, error, failing_checks, observed_at
    from reporting.node_health_now
    order by array_position(array['down', 'unknown', 'maintenance', 'up'], health) nulls first, node`;
  return [...rows];
}
