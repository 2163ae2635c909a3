import { cb58, namedBytes } from '../ids/base58.ts';
import type { JsonObject } from '../json.ts';
import type { Network } from '../network/network.ts';
import type { PrimaryChain } from '../network/primary-chains.ts';
import { blockHex } from './block-bytes.ts';
import { RpcFailure } from './json-rpc.ts';
import { transactionJson } from './transactions.ts';

/** Returns a block in the json encoding. */
function blockJson(network: Network, chain: PrimaryChain, height: number): JsonObject {
  const blocks = network.blocks(chain);
  return {
    parentID: blocks.hash(height - 1),
    height,
    time: blocks.time(height),
    ...(chain.number === 1
      ? { merkleRoot: cb58(namedBytes(network.seed, `merkle root ${height}`, 32)) }
      : {}),
    txs: blocks.transactionNumbers(height).map((number) => transactionJson(network, chain, number)),
    id: blocks.hash(height),
  };
}

/** Returns the response of getBlockByHeight at a time (Unix seconds). A future block is not found. */
export function blockByHeight(
  network: Network,
  chain: PrimaryChain,
  height: number,
  encoding: string,
  sec: number,
): JsonObject {
  if (height > network.blocks(chain).heightAt(sec))
    throw new RpcFailure(`couldn't get block at height ${height}: not found`);
  const block = encoding === 'json' ? blockJson(network, chain, height) : blockHex(network, chain, height);
  return { block, encoding };
}

/** Returns the response of getBlock. */
export function blockById(
  network: Network,
  chain: PrimaryChain,
  id: string,
  encoding: string,
  sec: number,
): JsonObject {
  const height = network.blocks(chain).heightOf(id);
  if (height === undefined || height > network.blocks(chain).heightAt(sec)) {
    throw new RpcFailure(`couldn't get block with id ${id}: not found`);
  }
  return blockByHeight(network, chain, height, encoding, sec);
}
