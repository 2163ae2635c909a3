import fc from 'fast-check';
import { snappyUncompress } from 'hyparquet';
import { expect, it } from 'vitest';
import { compressSnappy } from '../../src/warehouse/snappy.ts';

function again(bytes: Uint8Array): Buffer {
  const output = new Uint8Array(bytes.length);
  if (bytes.length > 0) snappyUncompress(compressSnappy(bytes), output);
  return Buffer.from(output);
}

/** Bytes in which much, or little, comes again, over more than one block. */
const bytes = fc
  .array(fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.nat(400)), { maxLength: 20 })
  .map((parts) => Buffer.concat(parts.flatMap(([part, times]) => Array.from({ length: times }, () => part))));

it('is what it was once it is uncompressed', () => {
  fc.assert(fc.property(bytes, (one) => again(one).equals(one)));
  // Copies of every length.
  for (let length = 1; length < 200; length += 1) {
    const one = Buffer.concat([
      Buffer.from('0123'),
      Buffer.alloc(length, 'a'),
      Buffer.from('0123456789abcdef'),
    ]);
    expect(again(one).equals(one)).toBe(true);
  }
});

it('makes what repeats small, and what does not hardly larger', () => {
  const repeated = Buffer.alloc(200_000, 'chain recorder ');
  expect(compressSnappy(repeated).length).toBeLessThan(repeated.length / 15);
  const counted = Buffer.from(
    Array.from({ length: 100_000 }, (_, at) => Math.imul(at * at, 0x9e3779b1) >>> 24),
  );
  expect(compressSnappy(counted).length).toBeLessThan(counted.length * 1.01);
});
