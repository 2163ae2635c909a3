import type postgres from 'postgres';
import type { NodeState } from '../../../health/state.ts';

export interface WatchedNode {
  readonly node: string;
  /** `unrecorded`: never probed. */
  readonly state: NodeState | 'unrecorded';
  /** The start of the state; null if unknown. */
  readonly since: Date | null;
  /** The latest error message of the node; null if it is up. */
  readonly error: string | null;
  readonly failing_checks: readonly string[];
  /** True if the node itself reports that it is not ready to serve. */
  readonly unready: boolean;
  /** The number of observers that watch the node. */
  readonly observers: number;
  readonly first_probe_at: Date | null;
  /** Time before which the record no longer changes. */
  readonly settled_until: Date | null;
}

export interface StalledLedger {
  /** The observer, or the observer, node and probe. */
  readonly subject: string;
  readonly since: Date | null;
  readonly reason: string;
}

/**
 * Time after the last probe for which a node outside the configuration is shown, such as a node of another
 * recorder.
 */
const UNCONFIGURED_NODE_INTERVAL = '1 day';
/**
 * Maximum age of the settled state of a node while a ledger is stalled, in ms. If the settled state is older,
 * the state is unknown.
 */
const MAX_SETTLED_AGE_MS = 120_000;

/** States in descending order of urgency. */
const STATES_BY_URGENCY: readonly WatchedNode['state'][] = [
  'down',
  'unknown',
  'unrecorded',
  'maintenance',
  'up',
];

/** Sorts nodes by urgency. The order of nodes with the same state is kept. */
export const sortByUrgency = <Node extends Pick<WatchedNode, 'state'>>(nodes: readonly Node[]): Node[] =>
  [...nodes].sort(
    (one, other) => STATES_BY_URGENCY.indexOf(one.state) - STATES_BY_URGENCY.indexOf(other.state),
  );

/** Collator that sorts `node-2` before `node-10`. */
const byName = new Intl.Collator('en', { numeric: true });

/** Returns the stalled ledgers of observers and of single probes. */
export async function readStalledLedgers(sql: postgres.Sql): Promise<StalledLedger[]> {
  return sql<StalledLedger[]>`
    select subject, since, reason from reporting.findings where component = 'ledger' order by subject`;
}

/**
 * Returns the current state of the nodes, by the majority of the observers that watch. The state in a stalled
 * ledger is unknown.
 * @param nodes the configured nodes; other nodes are returned while they are probed
 * @param now in ms since 1970
 */
export async function watchedNodes(
  sql: postgres.Sql,
  nodes: readonly string[],
  stalledLedgers: readonly StalledLedger[],
  now: number,
): Promise<WatchedNode[]> {
  const rows = await sql<(Omit<WatchedNode, 'state'> & { state: NodeState })[]>`
    select n.node, n.health as state, n.since, n.error, n.failing_checks, n.readiness is not distinct from 'down' as unready,
      n.observers::int, p.first_probe_at, p.settled_until
    from reporting_internal.node_health_now n
    join (
      select node, min(first_probe_at) as first_probe_at, max(settled_until) as settled_until, max(probed_at) as probed_at
      from reporting_internal.node_probes where probe = 'health' group by node) p using (node)
    where n.health is not null and (n.node = any(${[...nodes]}::text[]) or p.probed_at > now() - ${UNCONFIGURED_NODE_INTERVAL}::interval)`;
  const observedNodes = rows.map((row): WatchedNode => {
    const trails =
      stalledLedgers.length > 0 && now - (row.settled_until?.getTime() ?? 0) > MAX_SETTLED_AGE_MS;
    return trails || row.state === 'unknown'
      ? {
          ...row,
          state: 'unknown',
          since: row.settled_until,
          error: row.state === 'unknown' ? row.error : null,
        }
      : row;
  });
  const known = new Set(observedNodes.map(({ node }) => node));
  const unrecorded = nodes
    .filter((node) => !known.has(node))
    .map(
      (node): WatchedNode => ({
        node,
        state: 'unrecorded',
        since: null,
        error: null,
        failing_checks: [],
        unready: false,
        observers: 0,
        first_probe_at: null,
        settled_until: null,
      }),
    );
  return [...observedNodes, ...unrecorded].sort((one, other) => byName.compare(one.node, other.node));
}
