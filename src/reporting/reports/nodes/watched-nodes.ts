import type postgres from 'postgres';

export type NodeState = 'up' | 'down' | 'unknown' | 'maintenance';

/** A node as it is now. */
export interface WatchedNode {
  readonly node: string;
  /** `unrecorded`: nobody has looked at it yet. */
  readonly state: NodeState | 'unrecorded';
  /** Since when; null: nobody can tell. */
  readonly since: Date | null;
  /** Why, in the node's latest words; null: it is up. */
  readonly error: string | null;
  readonly failing_checks: readonly string[];
  /** It says itself that it is not ready to serve. */
  readonly unready: boolean;
  /** How many observers watch it. */
  readonly observers: number;
  readonly first_look: Date | null;
  /** Up to here the record does not change any more. */
  readonly settled_until: Date | null;
}

/** Why a ledger is stalled. */
export interface StandingLedger {
  /** The observer, or the observer, node and probe. */
  readonly subject: string;
  readonly since: Date | null;
  readonly reason: string;
}

/** A node that is not in the configuration, such as another recorder's, is shown so long after its last look. */
const STRANGERS = '1 day';
/** What is settled no further than this, while a ledger is stalled, is not known now; ms. */
const TRAILING = 120_000;

/** What wants a look comes first. */
const NEED: readonly WatchedNode['state'][] = ['down', 'unknown', 'unrecorded', 'maintenance', 'up'];

/** Nodes by what wants a look first; the order of those that are alike stays. */
export const byNeedOfLook = <Node extends Pick<WatchedNode, 'state'>>(nodes: readonly Node[]): Node[] =>
  [...nodes].sort((one, other) => NEED.indexOf(one.state) - NEED.indexOf(other.state));

/** `node-2` comes before `node-10`. */
const byName = new Intl.Collator('en', { numeric: true });

/** Ledgers of observers and of single probes that stand still. */
export async function standingLedgers(sql: postgres.Sql): Promise<StandingLedger[]> {
  return [
    ...(await sql<StandingLedger[]>`
      select subject, since, reason from reporting.findings where what = 'ledger' order by subject`),
  ];
}

/**
 * How the nodes are now, by the majority of those that watch. A state of a ledger that is stalled is not known.
 * @param nodes those of the configuration; others are told while somebody looks at them
 * @param now ms since 1970
 */
export async function watchedNodes(
  sql: postgres.Sql,
  nodes: readonly string[],
  standing: readonly StandingLedger[],
  now: number,
): Promise<WatchedNode[]> {
  const rows = await sql<(Omit<WatchedNode, 'state'> & { state: NodeState })[]>`
    select n.node, n.health as state, n.since, n.error, n.failing_checks, n.readiness is not distinct from 'down' as unready,
      n.observers::int, p.first_look, p.settled_until
    from reporting.node_health_now n
    join (
      select node, min(first_look) as first_look, max(settled_until) as settled_until, max(probed_at) as probed_at
      from reporting.node_probes where probe = 'health' group by node) p using (node)
    where n.health is not null and (n.node = any(${[...nodes]}::text[]) or p.probed_at > now() - ${STRANGERS}::interval)`;
  const looked = rows.map((row): WatchedNode => {
    const trails = standing.length > 0 && now - (row.settled_until?.getTime() ?? 0) > TRAILING;
    return trails || row.state === 'unknown'
      ? {
          ...row,
          state: 'unknown',
          since: row.settled_until,
          error: row.state === 'unknown' ? row.error : null,
        }
      : row;
  });
  const known = new Set(looked.map(({ node }) => node));
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
        first_look: null,
        settled_until: null,
      }),
    );
  return [...looked, ...unrecorded].sort((one, other) => byName.compare(one.node, other.node));
}
