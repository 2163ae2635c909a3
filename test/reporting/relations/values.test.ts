import { expect, it } from 'vitest';
import { readValue } from '../../../src/reporting/relations/values.ts';

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

it('times are ISO 8601 in UTC, with the microseconds that there are', () => {
  expect(readValue('timestamptz', '2026-03-20 12:00:00+00')).toBe('2026-03-20T12:00:00Z');
  expect(readValue('timestamptz', '2026-03-20 12:00:00.000001+00')).toBe('2026-03-20T12:00:00.000001Z');
  expect(readValue('timestamptz', '12026-03-20 12:00:00+00')).toBe('12026-03-20T12:00:00Z');
  expect(readValue('timestamptz', 'infinity')).toBe('infinity');
});
