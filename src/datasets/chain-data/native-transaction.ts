import {
  count,
  hex,
  object,
  optional,
  text,
  uint,
  uint256,
  unixMilliseconds,
  unixSeconds,
} from '../fields.ts';
import { richAddress } from './rich-address.ts';

/** A transaction of an EVM chain, in the form of lists. */
export const nativeTransaction = object({
  txHash: hex(),
  txStatus: optional(text('1: succeeded.')),
  txType: optional(count()),
  blockNumber: uint(),
  blockTimestamp: unixSeconds(),
  blockTimestampMilliseconds: optional(unixMilliseconds()),
  blockMinDelayExcess: optional(uint()),
  blockHash: optional(hex()),
  blockIndex: optional(count('Index in the block.')),
  from: optional(richAddress),
  to: optional(richAddress),
  method: optional(
    object({ callType: optional(text()), methodHash: optional(hex()), methodName: optional(text()) }),
  ),
  value: optional(uint256('In the smallest unit of the native token.')),
  gasLimit: optional(uint()),
  gasUsed: optional(uint()),
  gasPrice: optional(uint('In the smallest unit of the native token.')),
  nonce: optional(uint()),
});
