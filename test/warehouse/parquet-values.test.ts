import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DECIMAL_BYTES, storingOf } from '../../src/warehouse/parquet-values.ts';

const decimal = (scale: number) =>
  storingOf({ name: 'amount', type: 'numeric', stored: 'decimal', scale, nullable: false, at: 0 });

/** The number that is stored of digits; null: they do not fit. */
function stored(text: string, scale: number): bigint | boolean | Uint8Array | null {
  const into = Buffer.alloc(DECIMAL_BYTES);
  const fits = decimal(scale).write(Buffer.from(text), 0, text.length, into, 0);
  return fits ? decimal(scale).statistic(into, 0, DECIMAL_BYTES) : null;
}

const LIMIT = 10n ** 38n;
const digits = fc.bigInt({ min: 1n - LIMIT, max: LIMIT - 1n });

it('decimals are stored with every digit, and stand in the order of their numbers', () => {
  fc.assert(
    fc.property(digits, digits, fc.constantFrom(0, 18), fc.nat(3), (one, other, scale, zeros) => {
      const text = (value: bigint) => {
        const unsigned = String(value < 0n ? -value : value).padStart(scale + 1, '0');
        const [whole, decimals] = [unsigned.slice(0, unsigned.length - scale), unsigned.slice(-scale)];
        return `${value < 0n ? '-' : ''}${whole}${scale === 0 ? '' : `.${decimals}${'0'.repeat(zeros)}`}`;
      };
      expect(stored(text(one), scale)).toBe(one);
      const bytes = Buffer.alloc(2 * DECIMAL_BYTES);
      for (const [at, value] of [one, other].entries())
        decimal(scale).write(Buffer.from(text(value)), 0, text(value).length, bytes, at * DECIMAL_BYTES);
      expect(decimal(scale).isLess?.(bytes, 0, 0, DECIMAL_BYTES, 0)).toBe(one < other);
    }),
  );
});

it('what has too many digits, or is no number, does not fit', () => {
  expect(stored('0.5', 0)).toBeNull();
  expect(stored('12.50', 1)).toBe(125n);
  expect(stored(`1${'0'.repeat(38)}`, 0)).toBeNull();
  expect(stored('1'.repeat(21), 18)).toBeNull();
  expect(stored(`0.${'0'.repeat(18)}1`, 18)).toBeNull();
  for (const none of ['NaN', '-Infinity', '', '-', '.5']) expect(stored(none, 18)).toBeNull();
});
