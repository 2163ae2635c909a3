import { KIND } from '../ids/spaces.ts';
import type { JsonObject } from '../json.ts';
import type { Account } from '../network/accounts.ts';
import type { Network } from '../network/network.ts';
import { DAY } from '../network/periods.ts';
import { EMPTY_ID } from '../network/primary-chains.ts';
import { mix } from '../random.ts';
import { common, type StakingItem, utxo } from './staking-items.ts';

/** Interval of an account's transactions without a stake, in seconds. */
const EVERY = 30 * DAY;
const PER_ACCOUNT = 65_536;

/** Types of transactions of accounts and of the network besides staking. */
const TYPES = ['ImportTx', 'ExportTx', 'BaseTx', 'AdvanceTimeTx', 'UNKNOWN'];
const NEW_TYPES = [
  'AddAutoRenewedValidatorTx',
  'SetAutoRenewedValidatorConfigTx',
  'RewardAutoRenewedValidatorTx',
];

/**
 * Returns the fields of a transaction that the network creates itself. Such a transaction consumes, moves and
 * burns nothing.
 */
export function bare(network: Network, item: Omit<StakingItem, 'details'>): JsonObject {
  const { sourceChain, destinationChain, memo, ...rest } = common(network, item, 0n, 0n);
  return { ...rest, consumedUtxos: [], emittedUtxos: [], amountBurned: [] };
}

/** Returns the fields of a transfer, optionally to or from another chain. */
function transferFields(network: Network, item: Omit<StakingItem, 'details'>, more: JsonObject): JsonObject {
  const amount = 1_000_000_000n + BigInt(mix(network.seed, item.time, 95));
  const { sourceChain, destinationChain, ...rest } = common(network, item, 0n, 0n);
  const emitted = utxo(network, item.hash, [item.owner], amount, 0, item.time, { utxoType: 'TRANSFER' });
  return { ...rest, emittedUtxos: [emitted], ...more };
}

function detailsOf(network: Network, item: Omit<StakingItem, 'details'>): JsonObject {
  const x = network.chain('x-chain')?.blockchainId ?? '';
  const node = network.validators.nodes[mix(network.seed, item.time, 96) % network.validators.nodes.length];
  const stakingTxHash = network.ids.primary.encode(KIND.staking, mix(network.seed, item.time, 97) % 4096);
  switch (item.type) {
    case 'ImportTx':
      return transferFields(network, item, { sourceChain: x, destinationChain: EMPTY_ID });
    case 'ExportTx':
      return transferFields(network, item, { sourceChain: EMPTY_ID, destinationChain: x });
    case 'BaseTx':
      return transferFields(network, item, { memo: '0x73616e64626f78' });
    case 'RewardAutoRenewedValidatorTx':
      return { ...bare(network, item), rewardTxHash: item.hash, stakingTxHash, nodeId: node?.nodeId };
    case 'AddAutoRenewedValidatorTx':
    case 'SetAutoRenewedValidatorConfigTx':
      return transferFields(network, item, { nodeId: node?.nodeId, subnetId: EMPTY_ID, stakingTxHash });
    default:
      return bare(network, item);
  }
}

function event(network: Network, account: Account, number: number, types: readonly string[]): StakingItem {
  return {
    time: network.genesisSec + number * EVERY + (mix(network.seed, account.number, number, 98) % EVERY),
    // The hash is created on demand, because most items are filtered out.
    get hash() {
      return network.ids.primary.encode(KIND.event, account.number * PER_ACCOUNT + number);
    },
    type: types[(number + account.number) % types.length] ?? 'UNKNOWN',
    owner: account,
    details() {
      return detailsOf(network, this);
    },
  };
}

/**
 * Returns the transactions without a stake up to a time (Unix seconds). Each account has one transaction in
 * thirty days.
 */
export function stakingEvents(network: Network, sec: number): StakingItem[] {
  const count = Math.max(0, Math.ceil((sec - network.genesisSec) / EVERY));
  const types = network.facts.has('staking-new-types', sec) ? [...TYPES, ...NEW_TYPES] : TYPES;
  return network.accounts.all.flatMap((account) =>
    Array.from({ length: count }, (_, number) => event(network, account, number, types)),
  );
}
