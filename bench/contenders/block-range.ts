import type { Window } from '../../src/datasets/contract.ts';
import { BLOCK_INTERVAL, CHAIN_END } from '../service/blocks.ts';

/** The node and chain of the recorded blocks. */
export const target = {
  network: 'mainnet',
  blockchainId: 'p-chain',
  nodeId: 'NodeID-7Xhw2mDxuDS44j42TCB6U5579esbSt3Lg',
};

const DAY = 86_400_000;

/** The complete days that contain the newest `rows` blocks, in ms since 1970. */
export function blockRange(rows: number): Window {
  const to = CHAIN_END * 1000;
  return { from: to - Math.ceil((rows * BLOCK_INTERVAL * 1000) / DAY) * DAY, to };
}
