import type { Sandbox } from '../sandbox/server.ts';

/** Blocks of one node on one chain in a time [from, to), in ms, that must be recorded in the end. */
export interface WatchedBlocks {
  readonly nodeId: string;
  readonly blockchainId: string;
  readonly from: number;
  readonly to: number;
}

export const BLOCK_CHAINS = ['p-chain', 'x-chain', 'c-chain'];

/** The hashes of the blocks that a node proposed on a chain in a time [from, to), in ms: the sandbox's truth. */
export function trueBlocks(
  { network }: Sandbox,
  { nodeId, blockchainId, from, to }: WatchedBlocks,
): string[] {
  // Blocks have whole seconds: those of [from, to) have timestamps from the first whole second on, before `to`.
  const [first, last] = [Math.ceil(from / 1000), Math.ceil(to / 1000) - 1];
  return [...network.proposedBlockHashes(nodeId, blockchainId, first, last)];
}

/** The name of a proposed-blocks target in the recorder's bookkeeping. */
export function blocksTargetKey({
  nodeId,
  blockchainId,
}: Pick<WatchedBlocks, 'nodeId' | 'blockchainId'>): string {
  return `blockchainId=${blockchainId} network=sandbox nodeId=${nodeId}`;
}
