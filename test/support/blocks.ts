import type { Target } from '../../src/datasets/contract.ts';

/** A proposed block of a response of the chain data service. */
export function block(number: number, seconds: number, more: Readonly<Record<string, unknown>> = {}) {
  return {
    blockNumber: String(number),
    blockHash: `hash-${number}`,
    parentHash: `hash-${number - 1}`,
    blockTimestamp: seconds,
    blockType: 'BanffStandardBlock',
    txCount: 0,
    transactions: [],
    blockSizeBytes: 100,
    ...more,
  };
}

let targets = 0;

/** A proposed-blocks target that no other test uses. */
export function blocksTarget(): Target {
  targets += 1;
  return { network: 'mainnet', blockchainId: `chain-${targets}`, nodeId: 'NodeID-1' };
}
