import { bytesOfHex, cb58 } from '../sources/cb58.ts';

/** Where a block's parent, height and time are in its bytes, by the type that follows the codec version. */
interface Layout {
  readonly parent: number;
  readonly height: number;
  readonly time?: number;
}

const APRICOT: Layout = { parent: 6, height: 38 };
const X_STANDARD: Layout = { parent: 6, height: 38, time: 46 };
const BANFF: Layout = { time: 6, parent: 14, height: 46 };
const LAYOUTS: ReadonlyMap<number, Layout> = new Map([
  ...[0, 1, 2, 3, 4].map((type): [number, Layout] => [type, APRICOT]),
  [20, X_STANDARD],
  ...[29, 30, 31, 32].map((type): [number, Layout] => [type, BANFF]),
]);
const HEADER = 54;

/**
 * What the head of a P- or X-chain block's bytes says, for a node that gives no JSON though it was asked for.
 * @param hex the node's `hex` encoding
 * @returns the bytes alone where they are not those of a known type of block
 */
export function blockOfBytes(hex: string): Readonly<Record<string, unknown>> {
  const bytes = bytesOfHex(hex);
  const layout = bytes && bytes.length >= HEADER ? LAYOUTS.get(bytes.readUInt32BE(2)) : undefined;
  if (!bytes || !layout) return { bytes: hex };
  return {
    parentID: cb58(bytes.subarray(layout.parent, layout.parent + 32)),
    height: String(bytes.readBigUInt64BE(layout.height)),
    ...(layout.time === undefined ? {} : { time: String(bytes.readBigUInt64BE(layout.time)) }),
    bytes: hex,
  };
}
