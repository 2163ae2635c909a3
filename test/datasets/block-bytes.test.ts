import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { decodeBlockBytes } from '../../src/datasets/node/chain-of-blocks.ts';
import { encodeCb58 } from '../../src/lib/cb58.ts';

const parent = Buffer.alloc(32, 7);
const u32 = (value: number) => Buffer.from(value.toString(16).padStart(8, '0'), 'hex');
const u64 = (value: bigint) => Buffer.from(value.toString(16).padStart(16, '0'), 'hex');
const version = Buffer.alloc(2);
const time = u64(1_700_000_000n);
const height = u64(12_345n);

/** The node's `hex` encoding: the bytes and the end of their SHA-256. */
function hexOf(...parts: readonly Buffer[]): string {
  const bytes = Buffer.concat(parts);
  const sum = createHash('sha256').update(bytes).digest().subarray(-4);
  return `0x${Buffer.concat([bytes, sum]).toString('hex')}`;
}

describe('the head of a block in bytes', () => {
  it.each([
    ['Apricot standard', hexOf(version, u32(2), parent, height, u32(0), u32(0)), undefined],
    ['X standard', hexOf(version, u32(20), parent, height, time, parent, u32(0)), '1700000000'],
    ['Banff abort', hexOf(version, u32(30), time, parent, height, u32(0)), '1700000000'],
    ['Banff standard', hexOf(version, u32(32), time, parent, height, u32(0)), '1700000000'],
    ['Banff proposal', hexOf(version, u32(29), time, u32(0), parent, height, u32(0)), '1700000000'],
  ])('has the parent and the height of a block of type %s', (_, hex, seconds) => {
    expect(decodeBlockBytes(hex)).toEqual({
      parentID: encodeCb58(parent),
      height: '12345',
      ...(seconds === undefined ? {} : { time: seconds }),
      bytes: hex,
    });
  });

  it('is unknown for blocks with transactions before the parent, other types, or a wrong checksum', () => {
    const proposal = hexOf(version, u32(29), time, u32(1), parent, parent, height);
    const unknown = hexOf(version, u32(99), parent, height, time);
    const wrong = `${hexOf(version, u32(2), parent, height, time).slice(0, -2)}00`;
    for (const hex of [proposal, unknown, wrong, '0x', 'no hex'])
      expect(decodeBlockBytes(hex)).toEqual({ bytes: hex });
  });
});
