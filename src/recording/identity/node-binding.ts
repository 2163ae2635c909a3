import { createHash } from 'node:crypto';
import type postgres from 'postgres';
import { NETWORK_IDS, type NetworkName, networkName } from '../../config/networks.ts';

/** Configuration of a node. */
export interface ConfiguredNode {
  readonly name: string;
  readonly url: string;
  readonly network: NetworkName;
  /** Node id that the name is bound to. Undefined: the first node that responds is bound. */
  readonly nodeId?: string | undefined;
}

/** Values that identify a node. Null: the node does not report the value. */
export interface NodeIdentity {
  readonly nodeId: string | null;
  readonly networkId: number | null;
  /** Id of the first block of the P-chain. */
  readonly genesisId: string | null;
}

/** A configured name and the node that it is bound to. Times are in ms since 1970. */
export interface NodeBinding extends NodeIdentity {
  readonly verifiedAt: number | null;
  readonly difference: string | null;
  readonly differsAt: number | null;
  readonly differsWhere: string | null;
}

/**
 * Time after the last detection of a difference after which the difference has ended, in ms. A load balancer
 * routes to the other node again within this time. Until then, a node without the header `node-id` is not
 * recorded.
 */
const DIFFERENCE_EXPIRY_MS = 120_000;
/** Minimum interval between two writes of an unchanged binding or difference, in ms. */
const MIN_WRITE_INTERVAL_MS = 10_000;

/** Loads the binding of a name. Returns null if no node was seen yet. */
export async function loadBinding(sql: postgres.Sql, name: string): Promise<NodeBinding | null> {
  const [row] = await sql<
    {
      node_id: string | null;
      network_id: string | null;
      genesis_id: string | null;
      verified_at: Date | null;
      difference: string | null;
      differs_at: Date | null;
      differs_where: string | null;
    }[]
  >`
    select node_id, network_id, genesis_id, verified_at, difference, differs_at, differs_where
    from recorder.node_bindings where node = ${name}`;
  return row
    ? {
        nodeId: row.node_id,
        networkId: row.network_id === null ? null : Number(row.network_id),
        genesisId: row.genesis_id,
        verifiedAt: row.verified_at?.getTime() ?? null,
        difference: row.difference,
        differsAt: row.differs_at?.getTime() ?? null,
        differsWhere: row.differs_where,
      }
    : null;
}

/**
 * Returns the node id that a name is bound to. Returns null if the first node that responds will be bound.
 */
export const boundNodeId = (node: ConfiguredNode, binding: NodeBinding | null): string | null =>
  node.nodeId ?? binding?.nodeId ?? null;

/**
 * Returns why the responding node is not the bound node, and how to fix the configuration. Returns null if
 * the node is the bound one.
 */
export function findDifference(
  node: ConfiguredNode,
  binding: NodeBinding | null,
  observed: NodeIdentity,
): string | null {
  const { name, network } = node;
  const expected = NETWORK_IDS[network];
  if (observed.networkId !== null && observed.networkId !== expected)
    return `another network: the node at the URL of ${name} belongs to the network ${networkName(observed.networkId)}, and the configuration records ${network}: correct its url, or network`;
  if (binding?.networkId != null && binding.networkId !== expected)
    return `another network: ${name} is recorded as a node of ${networkName(binding.networkId)}, and the configuration records ${network}: give the node another name`;
  const bound = boundNodeId(node, binding);
  if (bound !== null && observed.nodeId !== null && observed.nodeId !== bound)
    return `another node: ${observed.nodeId} responds at the URL of ${name}, which is the name of ${bound}: correct its url, or set its nodeId in upstreams.nodes to ${observed.nodeId} if the name is for this node from now on`;
  if (binding?.genesisId != null && observed.genesisId !== null && observed.genesisId !== binding.genesisId)
    return `another genesis: the first block of the P-chain of ${name} is ${observed.genesisId}, and ${binding.genesisId} is recorded: correct its url, or give the node another name`;
  return null;
}

/**
 * Returns a digest of the URL and the configured id of a node. The digest changes if either changes in the
 * configuration.
 */
export const nodeDigest = ({ url, nodeId = '' }: ConfiguredNode): string =>
  createHash('sha256').update(`${url}\n${nodeId}`).digest('hex');

/**
 * Returns whether a difference was seen recently at the same URL, so that the other node may still respond.
 */
export function isDifferenceRecent(
  node: ConfiguredNode,
  { difference, differsAt, differsWhere }: NodeBinding,
  now: number,
): boolean {
  const isHere = difference !== null && differsWhere === nodeDigest(node);
  return isHere && differsAt !== null && now - differsAt < DIFFERENCE_EXPIRY_MS;
}

/**
 * Binds the name to the node, completes the binding, or stores that the binding is still valid.
 * @returns the stored binding
 */
export async function bindNode(
  sql: postgres.Sql,
  node: ConfiguredNode,
  binding: NodeBinding | null,
  observed: NodeIdentity,
  now: number,
): Promise<NodeBinding> {
  const nodeId = boundNodeId(node, binding) ?? observed.nodeId;
  const bound: NodeIdentity = {
    nodeId,
    networkId: binding?.networkId ?? observed.networkId,
    genesisId: binding?.genesisId ?? observed.genesisId,
  };
  const ended = binding !== null && binding.difference !== null && !isDifferenceRecent(node, binding, now);
  const isNoted =
    binding !== null &&
    bound.nodeId === binding.nodeId &&
    bound.networkId === binding.networkId &&
    bound.genesisId === binding.genesisId &&
    binding.verifiedAt !== null &&
    now - binding.verifiedAt < MIN_WRITE_INTERVAL_MS;
  if (isNoted && !ended) return binding;
  const at = new Date(now);
  const by = node.nodeId === undefined ? 'first sight' : 'configuration';
  // Another process may bind the name concurrently. The first process wins, unless the configuration has a
  // node id.
  await sql`
    insert into recorder.node_bindings as b (node, node_id, network_id, genesis_id, bound_by, bound_at, verified_at)
    values (${node.name}, ${bound.nodeId}, ${bound.networkId}, ${bound.genesisId}, ${by}, ${at}, ${at})
    on conflict (node) do update set
      node_id = coalesce(${node.nodeId ?? null}, b.node_id, excluded.node_id),
      network_id = coalesce(b.network_id, excluded.network_id),
      genesis_id = coalesce(b.genesis_id, excluded.genesis_id),
      bound_by = case when b.node_id is distinct from coalesce(${node.nodeId ?? null}, b.node_id, excluded.node_id)
        then excluded.bound_by else b.bound_by end,
      bound_at = case when b.node_id is distinct from coalesce(${node.nodeId ?? null}, b.node_id, excluded.node_id)
        then excluded.bound_at else b.bound_at end,
      verified_at = excluded.verified_at,
      difference = case when ${ended} then null else b.difference end,
      differs_since = case when ${ended} then null else b.differs_since end,
      differs_at = case when ${ended} then null else b.differs_at end,
      differs_where = case when ${ended} then null else b.differs_where end`;
  const stored = await loadBinding(sql, node.name);
  if (!stored) throw new Error(`the binding of ${node.name} is missing`);
  return stored;
}

/**
 * Stores that the responding node is not the node that the name is bound to.
 * @returns the stored binding
 */
export async function storeDifference(
  sql: postgres.Sql,
  node: ConfiguredNode,
  binding: NodeBinding | null,
  difference: string,
  now: number,
): Promise<NodeBinding> {
  const place = nodeDigest(node);
  if (
    binding?.difference === difference &&
    binding.differsWhere === place &&
    now - (binding.differsAt ?? 0) < MIN_WRITE_INTERVAL_MS
  )
    return binding;
  const at = new Date(now);
  const by = node.nodeId === undefined ? 'first sight' : 'configuration';
  await sql`
    insert into recorder.node_bindings as b
      (node, node_id, bound_by, bound_at, difference, differs_since, differs_at, differs_where)
    values (${node.name}, ${node.nodeId ?? null}, ${by}, ${at}, ${difference}, ${at}, ${at}, ${place})
    on conflict (node) do update set difference = excluded.difference, differs_since = coalesce(b.differs_since, excluded.differs_since),
      differs_at = excluded.differs_at, differs_where = excluded.differs_where`;
  const stored = await loadBinding(sql, node.name);
  if (!stored) throw new Error(`the binding of ${node.name} is missing`);
  return stored;
}
