import type { Json, JsonObject } from '../json.ts';
import type { Account } from '../network/accounts.ts';
import type { Network } from '../network/network.ts';
import {
  currentMembers,
  type Member,
  memberBalance,
  memberWeight,
  type Subnet,
  weightChanges,
} from '../network/subnets.ts';
import type { Stake, ValidatorStake } from '../network/validators.ts';
import { between, mix, unit } from '../random.ts';
import type { SimulatedNode } from './simulated-node.ts';

/** Returns a set of owners, each of whom may sign alone. */
function owner(network: Network, accounts: readonly Account[], sec: number): JsonObject {
  const addresses = accounts.map(({ address }) => `P-${address}`);
  return { locktime: String(network.locktime(sec)), threshold: '1', addresses };
}

/**
 * Returns the share of time in which one node was connected to another since its start, in percent with four
 * decimals.
 */
export function observedUptime(viewer: SimulatedNode, seat: number, sec: number): number {
  const usual = 88 + 12 * Math.sqrt(unit(viewer.network.seed, seat, 51));
  const drift =
    (unit(viewer.seed, seat, Math.floor(sec / 3600), 52) + unit(viewer.seed, seat, sec, 53) / 50 - 0.5) * 0.8;
  return Math.min(100, Math.max(0, usual + drift));
}

/** Returns whether one node is currently connected to another, which is true for most pairs. */
export function isConnected(viewer: SimulatedNode, seat: number, sec: number): boolean {
  return viewer.identity.seat === seat || mix(viewer.seed, seat, Math.floor(sec / 300), 54) % 40 !== 0;
}

function delegator(network: Network, stake: Stake, sec: number): JsonObject {
  return {
    txID: stake.txId,
    startTime: String(stake.start),
    endTime: String(stake.end),
    weight: String(stake.weight),
    nodeID: stake.node.nodeId,
    rewardOwner: owner(network, stake.rewardOwners, sec),
    potentialReward: String(stake.potentialReward),
  };
}

function primary(
  viewer: SimulatedNode,
  stake: ValidatorStake,
  sec: number,
  withDelegators: boolean,
): JsonObject {
  const delegations = stake.delegations.filter(
    (delegation) => delegation.start <= sec && sec < delegation.end,
  );
  const { seat } = stake.node;
  return {
    txID: stake.txId,
    startTime: String(stake.start),
    endTime: String(stake.end),
    weight: String(stake.weight),
    nodeID: stake.node.nodeId,
    validationRewardOwner: owner(viewer.network, stake.rewardOwners, sec),
    delegationRewardOwner: owner(viewer.network, stake.feeOwners, sec),
    potentialReward: String(stake.potentialReward),
    accruedDelegateeReward: String(
      between(viewer.network.seed, 0, 9_999_999_999, seat, Math.floor(sec / 86_400), 55),
    ),
    delegationFee: stake.feePercent.toFixed(4),
    uptime: observedUptime(viewer, seat, sec).toFixed(4),
    connected: isConnected(viewer, seat, sec),
    signer: { publicKey: stake.node.publicKey, proofOfPossession: stake.node.proofOfPossession },
    delegatorCount: String(delegations.length),
    delegatorWeight: String(delegations.reduce((sum, delegation) => sum + delegation.weight, 0n)),
    delegators: withDelegators ? delegations.map((one) => delegator(viewer.network, one, sec)) : undefined,
  };
}

function member(viewer: SimulatedNode, one: Member, sec: number): JsonObject {
  const weight = String(memberWeight(one, sec));
  if (!one.l1) {
    return {
      txID: one.id,
      startTime: String(one.start),
      endTime: String(one.end),
      weight,
      nodeID: one.node.nodeId,
    };
  }
  const account = viewer.network.accounts.of(one.ownerKey, 56);
  return {
    validationID: one.id,
    nodeID: one.node.nodeId,
    publicKey: one.node.publicKey,
    remainingBalanceOwner: owner(viewer.network, [account], sec),
    deactivationOwner: owner(viewer.network, [account], sec),
    startTime: String(one.start),
    weight,
    minNonce: String(weightChanges(one, sec)),
    balance: String(memberBalance(one, sec)),
  };
}

/**
 * Returns the validators of a subnet at a time (Unix seconds), as in platform.getCurrentValidators. Records
 * have three shapes. Delegators are listed only if exactly one node id is requested.
 */
export function validatorRecords(
  viewer: SimulatedNode,
  subnet: Subnet,
  nodeIds: readonly string[],
  sec: number,
): Json[] {
  const isRequested = (nodeId: string): boolean => nodeIds.length === 0 || nodeIds.includes(nodeId);
  if (subnet.kind !== 'primary') {
    return currentMembers(subnet, sec)
      .filter((one) => isRequested(one.node.nodeId))
      .map((one) => member(viewer, one, sec));
  }
  const stakes = viewer.network.validators.current(sec).filter((stake) => isRequested(stake.node.nodeId));
  return stakes.map((stake) => primary(viewer, stake, sec, nodeIds.length === 1));
}
