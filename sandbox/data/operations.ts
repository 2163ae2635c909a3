import type { Operation } from '../http/operation.ts';
import type { PageTokens } from '../http/page-tokens.ts';
import type { Networks } from './networks.ts';
import { proposedBlocks } from './proposed-blocks.ts';

/** The operations of the chain data service (chain data seed 4). */
export function dataOperations(networks: Networks, tokens: PageTokens, lagMs: number): Operation[] {
  return [proposedBlocks(networks, tokens, lagMs)];
}
