import type { Network } from '../network/network.ts';
import { type NodeIdentity, nodeIdentity } from '../network/validators.ts';
import { derive } from '../random.ts';
import { Timeline } from './timeline.ts';

/** Time after a start in which a node reports no check results, in seconds. */
export const FIRST_CHECK_SEC = 30;

/** Time after a start in which a node bootstraps, in seconds. */
export const BOOTSTRAP_SEC = 60;

/** BLS key of the node that does not validate. */
const OBSERVERS_KEY = 95;

/** One node that serves JSON-RPC and health. A node with the seat -1 does not validate. */
export interface SimulatedNode {
  readonly name: string;
  readonly path: string;
  readonly number: number;
  readonly seed: number;
  readonly identity: NodeIdentity;
  readonly network: Network;
  readonly timeline: Timeline;
}

/**
 * Returns the nodes of a sandbox: three validators of the main network and one node that only follows the
 * network.
 */
export function simulatedNodes(network: Network, scripted: boolean): SimulatedNode[] {
  return ['validator-1', 'validator-2', 'validator-3', 'observer-1'].map((name, number) => ({
    name,
    path: `/nodes/${name}`,
    number,
    seed: derive(network.seed, name),
    identity:
      (number < 3 ? network.validators.nodes[number] : undefined) ??
      nodeIdentity(network.seed, name, -1, OBSERVERS_KEY),
    network,
    timeline: new Timeline(network.seed, name, network.genesisSec, scripted),
  }));
}

/** Time after a start without members in lists, and after that with {@link FEW} members, in seconds. */
const FEW_MEMBERS_SEC = 300;
const FEW = 3;

/**
 * Returns the start of the time in which a node lists few members. Returns undefined if the node lists all
 * members.
 */
export function fewMembersSince(node: SimulatedNode, sec: number): number | undefined {
  const since = node.network.facts.since('node-few-members', sec, node.name);
  if (since === undefined) return undefined;
  const began = Math.max(since, node.timeline.startedAt(sec));
  return sec - began < 2 * FEW_MEMBERS_SEC ? began : undefined;
}

/** Returns the members of a list of a node at a time (Unix seconds). */
export function visibleMembers<T>(node: SimulatedNode, members: readonly T[], sec: number): readonly T[] {
  const began = fewMembersSince(node, sec);
  if (began === undefined) return members;
  return sec - began < FEW_MEMBERS_SEC ? [] : members.slice(0, FEW);
}

/** Returns whether a node has completed bootstrapping at a time (Unix seconds). */
export function isBootstrapped(node: SimulatedNode, sec: number): boolean {
  return sec - node.timeline.startedAt(sec) >= BOOTSTRAP_SEC;
}
