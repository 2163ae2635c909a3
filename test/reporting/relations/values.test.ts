import fc from 'fast-check';
import { expect, it } from 'vitest';
import { exactRow, readValue } from '../../../src/reporting/relations/values.ts';
import { quoteInexactNumbers } from '../../../src/upstreams/json.ts';

it('values are exact', () => {
  const big = '123456789012345678901234567890';
  expect(readValue('numeric', big)).toBe(big);
  expect(readValue('numeric', '1.10')).toBe('1.10');
  expect(readValue('bigint', '9007199254740991')).toBe(9_007_199_254_740_991);
  expect(readValue('bigint', '9007199254740993')).toBe('9007199254740993');
  expect(readValue('jsonb', `{"amount": ${big}, "list": [0.1, 1e400], "__proto__": 1}`)).toEqual(
    Object.fromEntries([
      ['amount', big],
      ['list', [0.1, '1e400']],
      ['__proto__', 1],
    ]),
  );
  expect(readValue('double precision', 'NaN')).toBe('NaN');
});

it('a bigint is the same exact JSON in the API, in queries, and in sinks', () => {
  const INT8_OID = 20;
  const bigint = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  fc.assert(
    fc.property(bigint, (number) => {
      const value = readValue('bigint', `${number}`);
      expect(String(value)).toBe(`${number}`);
      expect(quoteInexactNumbers(`${number}`)).toBe(JSON.stringify(value));
      expect(exactRow(`{"a": ${number}}`, [{ name: 'a', type: INT8_OID }])).toBe(
        JSON.stringify({ a: value }),
      );
    }),
    { examples: [[2n ** 53n], [2n ** 53n + 1n], [2n ** 53n + 2n], [-(2n ** 53n) - 2n]] },
  );
});

it.each(['0.0000001', '-0.00000000125', '0.000001', '12.5', '100000000000000000000000'])(
  'the numeric %s has the same digits in queries as in the API',
  (text) => {
    const NUMERIC_OID = 1700;
    expect(exactRow(`{"a":${text}}`, [{ name: 'a', type: NUMERIC_OID }])).toBe(
      JSON.stringify({ a: readValue('numeric', text) }),
    );
  },
);

it('times are ISO 8601 in UTC, with the microseconds that there are', () => {
  expect(readValue('timestamptz', '2026-03-20 12:00:00+00')).toBe('2026-03-20T12:00:00Z');
  expect(readValue('timestamptz', '2026-03-20 12:00:00.000001+00')).toBe('2026-03-20T12:00:00.000001Z');
  expect(readValue('timestamptz', '12026-03-20 12:00:00+00')).toBe('12026-03-20T12:00:00Z');
  expect(readValue('timestamptz', 'infinity')).toBe('infinity');
});
