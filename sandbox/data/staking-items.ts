import { KIND } from '../ids/spaces.ts';
import type { JsonObject } from '../json.ts';
import type { Account } from '../network/accounts.ts';
import type { Network } from '../network/network.ts';
import { EMPTY_ID } from '../network/primary-chains.ts';
import { type Member, memberBalance, memberWeight, type Subnet } from '../network/subnets.ts';
import type { Stake } from '../network/validators.ts';
import { mix } from '../random.ts';
import { assetAmount } from './amounts.ts';

/** A transaction in the staking list with its sort and filter keys. Times are in Unix seconds. */
export interface StakingItem {
  readonly time: number;
  readonly hash: string;
  readonly type: string;
  /** The account whose funds the transaction spends. */
  readonly owner: Account;
  /** Further receivers. */
  readonly payees?: readonly Account[];
  readonly details: () => JsonObject;
}

const FEE = 1_000_000n;

export function utxo(
  network: Network,
  hash: string,
  owners: readonly [Account, ...Account[]],
  amount: bigint,
  index: number,
  time: number,
  more: JsonObject,
): JsonObject {
  const asset = network.assets[0];
  return {
    addresses: owners.map(({ address }) => address),
    asset: assetAmount(asset, amount),
    consumedOnChainId: EMPTY_ID,
    createdOnChainId: EMPTY_ID,
    utxoId: network.ids.primary.encode(KIND.utxo, mix(network.seed, time, index, owners[0].number)),
    amount: String(amount),
    assetId: asset.assetId,
    blockNumber: '0',
    blockTimestamp: time,
    platformLocktime: 0,
    outputIndex: index,
    threshold: 1,
    txHash: hash,
    ...more,
  };
}

/** Returns the fields that every transaction has. */
export function common(
  network: Network,
  item: Omit<StakingItem, 'details'>,
  staked: bigint,
  burned: bigint,
): JsonObject {
  const chain = network.chain('p-chain');
  const blocks = chain === undefined ? undefined : network.blocks(chain);
  const height = Math.max(0, blocks?.heightAt(item.time) ?? 0);
  const asset = network.assets[0];
  const amounts = (amount: bigint): JsonObject[] => (amount === 0n ? [] : [assetAmount(asset, amount)]);
  const before = network.ids.primary.encode(KIND.transaction, height * 4);
  const consumed = utxo(network, before, [item.owner], staked + burned + FEE, 0, item.time - 3600, {
    utxoType: 'TRANSFER',
    consumingTxHash: item.hash,
    consumingBlockNumber: String(height),
    consumingBlockTimestamp: item.time,
  });
  return {
    txHash: item.hash,
    txType: item.type,
    blockTimestamp: item.time,
    blockNumber: String(height),
    blockHash: blocks?.hash(height) ?? '',
    consumedUtxos: [consumed],
    sourceChain: EMPTY_ID,
    destinationChain: EMPTY_ID,
    value: amounts(staked),
    amountBurned: amounts(FEE),
    amountStaked: amounts(staked),
    amountL1ValidatorBalanceBurned: amounts(burned),
    memo: '0x',
  };
}

/**
 * Returns the transaction of a validator's or delegator's stake on the primary network. One in ten has an old
 * transaction type.
 */
export function stakeItem(network: Network, stake: Stake, feePercent: number | undefined): StakingItem {
  const role = feePercent === undefined ? 'Delegator' : 'Validator';
  const old = mix(network.seed, stake.start, stake.node.seat, 91) % 10 === 0;
  const item = {
    time: stake.start,
    hash: stake.txId,
    type: `Add${old ? '' : 'Permissionless'}${role}Tx`,
    owner: stake.owner,
    payees: stake.rewardOwners,
  };
  const details = (): JsonObject => {
    const period = {
      utxoStartTimestamp: stake.start,
      utxoEndTimestamp: stake.end,
      staked: true,
      utxoType: 'STAKE',
    };
    const { publicKey, proofOfPossession } = stake.node;
    return {
      ...common(network, item, stake.weight, 0n),
      emittedUtxos: [
        utxo(network, stake.txId, [stake.owner], stake.weight, 0, stake.start, {
          ...period,
          rewardType: role.toUpperCase(),
        }),
      ],
      startTimestamp: stake.start,
      endTimestamp: stake.end,
      delegationFeePercent: feePercent === undefined ? undefined : feePercent.toFixed(4),
      nodeId: stake.node.nodeId,
      subnetId: EMPTY_ID,
      estimatedReward: String(stake.potentialReward),
      rewardAddresses: stake.rewardOwners.map(({ address }) => address),
      blsCredentials: old || feePercent === undefined ? undefined : { publicKey, proofOfPossession },
    };
  };
  return { ...item, details };
}

/** Returns the identity of an L1 validator. */
export function l1Detail(subnet: Subnet, member: Member): JsonObject {
  const { nodeId, publicKey, proofOfPossession } = member.node;
  return {
    validationId: member.id,
    validationIdHex: `0x${member.idBytes.toString('hex')}`,
    nodeId,
    subnetId: subnet.subnetId,
    blsCredentials: { publicKey, proofOfPossession },
  };
}

/**
 * Returns the transaction that adds a member to a subnet. Weights of L1 members are raw integers that may
 * exceed 2^53.
 */
export function memberItem(network: Network, subnet: Subnet, member: Member, sec: number): StakingItem {
  const owner = network.accounts.of(member.ownerKey, 56);
  const item = {
    time: member.start,
    hash: member.id,
    type: member.l1 ? 'RegisterL1ValidatorTx' : 'AddSubnetValidatorTx',
    owner,
  };
  const details = (): JsonObject => {
    const { nodeId } = member.node;
    const l1 = {
      ...l1Detail(subnet, member),
      weight: memberWeight(member, sec),
      remainingBalance: memberBalance(member, sec),
      balanceChange: 5_000_000_000,
    };
    const about = member.l1
      ? { l1ValidatorDetails: [l1] }
      : { startTimestamp: member.start, endTimestamp: member.end };
    return {
      ...common(network, item, 0n, member.l1 ? 5_000_000_000n : 0n),
      emittedUtxos: [],
      nodeId,
      subnetId: subnet.subnetId,
      ...about,
    };
  };
  return { ...item, details };
}

/** Returns the transactions that create a subnet and its chains. */
export function subnetItems(network: Network, subnet: Subnet, sec: number): StakingItem[] {
  const owner = network.accounts.of(subnet.number, 81);
  const made = {
    time: subnet.createdAt,
    hash: subnet.subnetId, // the id of a subnet is the hash of its transaction
    type: 'CreateSubnetTx',
    owner,
  };
  const subnetOwnershipInfo = { locktime: network.locktime(sec), threshold: 1, addresses: [owner.address] };
  const creation = {
    ...made,
    details: () => ({
      ...common(network, made, 0n, 0n),
      emittedUtxos: [],
      subnetId: subnet.subnetId,
      subnetOwnershipInfo,
    }),
  };
  const chains = subnet.chains.map((chain, i): StakingItem => {
    const item = {
      time: subnet.createdAt + 60 * i,
      hash: chain.blockchainId,
      type: 'CreateChainTx',
      owner,
    };
    const blockchainInfo = {
      chainName: chain.name,
      vmId: chain.vmId,
      genesisData: network.genesisData(chain, subnet.createdAt, sec),
    };
    return {
      ...item,
      details: () => ({
        ...common(network, item, 0n, 0n),
        emittedUtxos: [],
        subnetId: subnet.subnetId,
        blockchainInfo,
      }),
    };
  });
  return [creation, ...chains];
}
