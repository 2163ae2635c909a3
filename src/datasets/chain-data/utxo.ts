import { count, flag, hex, moves, object, optional, set, text, uint, unixSeconds } from '../fields.ts';
import { assetAmount } from './asset-amount.ts';

/** An unspent output, as an element of the lists of a staking transaction. */
export const utxo = object({
  utxoId: optional(text()),
  txHash: optional(hex()),
  addresses: optional(set()),
  asset: optional(assetAmount),
  amount: optional(uint()),
  assetId: optional(text()),
  utxoType: optional(text()),
  outputIndex: optional(count()),
  createdOnChainId: optional(text()),
  blockNumber: optional(uint()),
  blockTimestamp: optional(unixSeconds()),
  consumedOnChainId: optional(text()),
  consumingTxHash: moves(optional(hex())),
  consumingBlockNumber: moves(optional(uint())),
  consumingBlockTimestamp: moves(optional(unixSeconds())),
  threshold: optional(uint()),
  platformLocktime: optional(unixSeconds()),
  stakeableLocktime: optional(unixSeconds()),
  staked: optional(flag()),
  rewardType: optional(text()),
  utxoStartTimestamp: optional(unixSeconds()),
  utxoEndTimestamp: optional(unixSeconds()),
  utxoBytes: optional(hex()),
});
