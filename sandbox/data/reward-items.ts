import type { JsonObject } from '../json.ts';
import type { Network } from '../network/network.ts';
import type { Settlement } from '../network/rewards.ts';
import { bare } from './staking-events.ts';
import { type StakingItem, utxo } from './staking-items.ts';

/**
 * Returns the transaction that ends a stake. This transaction returns the stake, and pays each reward in a
 * separate output.
 */
export function rewardItem(network: Network, { stake, txId, time, paid }: Settlement): StakingItem {
  const payees = paid.flatMap(({ owners }) => owners);
  const item = { time, hash: txId, type: 'RewardValidatorTx', owner: stake.owner, payees };
  const details = (): JsonObject => {
    const returned = utxo(network, stake.txId, [stake.owner], stake.weight, 0, time, {
      utxoType: 'TRANSFER',
    });
    const rewards = paid.map(({ type, owners, amount }, at) => {
      const [first = stake.owner, ...others] = owners;
      const more = { utxoType: 'TRANSFER', rewardType: type };
      return utxo(network, stake.txId, [first, ...others], amount, at + 1, time, more);
    });
    return {
      ...bare(network, item),
      emittedUtxos: [returned, ...rewards],
      stakingTxHash: stake.txId,
      nodeId: stake.node.nodeId,
    };
  };
  return { ...item, details };
}
