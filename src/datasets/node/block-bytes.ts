import { decodeHex, encodeCb58 } from '../../lib/cb58.ts';

/** Byte offsets of the parent, the height and the time of a block, by the type after the codec version. */
interface Layout {
  readonly parent: number;
  readonly height: number;
  readonly time?: number;
}

const APRICOT: Layout = { parent: 6, height: 38 };
const X_STANDARD: Layout = { parent: 6, height: 38, time: 46 };
const BANFF: Layout = { time: 6, parent: 14, height: 46 };
/** Transactions precede the parent, so that its offset is known only if there are none. */
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
 * although it was requested.
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
