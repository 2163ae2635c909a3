import { decodeHex, encodeCb58 } from '../../lib/cb58.ts';
import { UpstreamFailure } from '../../upstreams/failure.ts';
import type { UpstreamClient } from '../contract.ts';
import { getMember } from '../sources/answer.ts';

/**
 * Byte offsets of the parent, the height and the time in blocks of one type. The type follows the codec
 * version.
 */
interface Layout {
  readonly parent: number;
  readonly height: number;
  readonly time?: number;
}

const APRICOT: Layout = { parent: 6, height: 38 };
const X_STANDARD: Layout = { parent: 6, height: 38, time: 46 };
const BANFF: Layout = { time: 6, parent: 14, height: 46 };
/**
 * Type of a block whose transactions precede the parent. The offset of the parent is therefore known only if
 * the block has no transactions.
 */
const BANFF_PROPOSAL = 29;
const NO_TRANSACTIONS: Layout = { time: 6, parent: 18, height: 50 };
const LAYOUTS: ReadonlyMap<number, Layout> = new Map([
  ...[0, 1, 2, 3, 4].map((type): [number, Layout] => [type, APRICOT]),
  [20, X_STANDARD],
  ...[30, 31, 32].map((type): [number, Layout] => [type, BANFF]),
]);
/** Minimum number of bytes that contain the type and the number of transactions. */
const MIN_HEADER_BYTES = 18;

/**
 * Decodes parent, height and time from the bytes of a P- or X-chain block, for a node that returns no JSON
 * although JSON was requested.
 * @param hex the `hex` encoding of the node
 * @returns only the bytes if the type of the block is unknown
 */
export function decodeBlockBytes(hex: string): Readonly<Record<string, unknown>> {
  const bytes = decodeHex(hex);
  const layout = bytes && bytes.length >= MIN_HEADER_BYTES ? layoutOf(bytes) : undefined;
  if (!bytes || !layout || bytes.length < Math.max(layout.height, layout.time ?? 0) + 8)
    return { bytes: hex };
  return {
    parentID: encodeCb58(bytes.subarray(layout.parent, layout.parent + 32)),
    height: String(bytes.readBigUInt64BE(layout.height)),
    ...(layout.time === undefined ? {} : { time: String(bytes.readBigUInt64BE(layout.time)) }),
    bytes: hex,
  };
}

function layoutOf(bytes: Buffer): Layout | undefined {
  const type = bytes.readUInt32BE(2);
  if (type === BANFF_PROPOSAL) return bytes.readUInt32BE(14) === 0 ? NO_TRANSACTIONS : undefined;
  return LAYOUTS.get(type);
}

/** A chain whose blocks a node returns by height and by id. */
export interface NodeChain {
  readonly path: string;
  /** Prefix of the method names of the chain. */
  readonly service: 'avm' | 'platform';
}

/**
 * Requests the block at a height.
 * @throws UpstreamFailure if the call fails, or the response has another height
 */
export async function requestBlockAt(
  client: UpstreamClient,
  { path, service }: NodeChain,
  height: number,
): Promise<unknown> {
  // In requests, heights of the X-chain are strings, and those of the P-chain are numbers.
  const params = { height: service === 'avm' ? String(height) : height, encoding: 'json' };
  const block = decodeBlock(await client.rpc(path, `${service}.getBlockByHeight`, params));
  const answered = String(getMember(block, 'height'));
  if (answered !== String(height))
    throw new UpstreamFailure(
      'malformed',
      `block ${height} was requested, and the node returned block ${answered}`,
    );
  return block;
}

/**
 * Requests the block with an id.
 * @throws UpstreamFailure if the call fails
 */
export async function requestBlockById(
  client: UpstreamClient,
  { path, service }: NodeChain,
  blockID: string,
): Promise<unknown> {
  return decodeBlock(await client.rpc(path, `${service}.getBlock`, { blockID, encoding: 'json' }));
}

function decodeBlock(answer: unknown): unknown {
  const block = getMember(answer, 'block');
  return typeof block === 'string' ? decodeBlockBytes(block) : block;
}

/**
 * Returns the height of the last block. If the node does not offer `getHeight`, the height is searched for
 * with requests of blocks.
 * @param from lowest height that may have no block; a block exists at each lower height
 * @returns -1 if there is no block
 */
export async function findHead(client: UpstreamClient, chain: NodeChain, from: number): Promise<number> {
  try {
    return parseHeight(await client.rpc(chain.path, `${chain.service}.getHeight`));
  } catch (error) {
    if (!(error instanceof UpstreamFailure) || error.kind !== 'unsupported') throw error;
    return searchHead(client, chain, from);
  }
}

async function searchHead(client: UpstreamClient, chain: NodeChain, from: number): Promise<number> {
  let there = from === 0 || (await hasBlock(client, chain, from - 1)) ? from - 1 : -1;
  if (there < from - 1) return bisectHead(client, chain, there, from - 1);
  let step = 1;
  for (; await hasBlock(client, chain, there + step); step *= 2) there += step;
  return bisectHead(client, chain, there, there + step);
}

/**
 * Finds the last block by bisection.
 * @param there height of an existing block, or -1
 * @param beyond greater height without a block
 */
async function bisectHead(
  client: UpstreamClient,
  chain: NodeChain,
  there: number,
  beyond: number,
): Promise<number> {
  let [last, missing] = [there, beyond];
  while (missing - last > 1) {
    const middle = Math.floor((last + missing) / 2);
    if (await hasBlock(client, chain, middle)) last = middle;
    else missing = middle;
  }
  return last;
}

async function hasBlock(client: UpstreamClient, chain: NodeChain, height: number): Promise<boolean> {
  try {
    await requestBlockAt(client, chain, height);
    return true;
  } catch (error) {
    if (error instanceof UpstreamFailure && error.kind === 'rpc' && /not found/i.test(error.message))
      return false;
    throw error;
  }
}

function parseHeight(answer: unknown): number {
  const height = Number(String(getMember(answer, 'height')));
  if (Number.isSafeInteger(height) && height >= 0) return height;
  throw new UpstreamFailure('malformed', 'the response has no height');
}
