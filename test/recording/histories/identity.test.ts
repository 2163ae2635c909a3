import fc from 'fast-check';
import postgres from 'postgres';
import { afterAll, expect, inject, it } from 'vitest';
import { canonicalText } from '../../../src/recording/histories/identity.ts';

const sql = postgres(inject('databaseUrl'), { max: 1 });
afterAll(() => sql.end());

const digits = fc.stringMatching(/^[012]{1,4}$/);
const zeros = fc.stringMatching(/^0{0,3}$/);
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    zeros,
    digits,
    fc.constantFrom('', '.'),
    fc.stringMatching(/^[02]{1,3}$/),
    fc.constantFrom('', 'e0', 'e2', 'E-2', 'e+1'),
  )
  .map(
    ([sign, before, integer, point, fraction, exponent]) =>
      `${sign}${before}${integer}${point === '' ? '' : point + fraction}${exponent}`,
  );
const instant = fc
  .tuple(
    fc.constantFrom(
      '2026-01-10T00:00:00',
      '2026-01-10T01:00:00',
      '2026-01-09T23:59:60',
      '0001-01-01T00:00:00',
    ),
    fc.constantFrom('', '.0', '.000', '.000001', '.0000009', '.000000400', '.123', '.1230000'),
    fc.constantFrom('Z', '+00:00', '+01:00', '-00:00'),
  )
  .filter(([second, fraction]) => !second.endsWith(':60') || fraction === '') // PostgreSQL takes no other leap seconds
  .map((parts) => parts.join(''));

const { value: json } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom('null', 'true', '"1"', '"a"', '1', '1.0', '10e-1', '100', '1e2', '-0', '0'),
    fc.constantFrom('12345678901234567890', '12345678901234567891', '12345678901234567890.0'),
    fc.array(tie('value'), { maxLength: 2 }).map((values) => `[${values.join(', ')}]`),
    fc
      .array(fc.tuple(fc.constantFrom('a', 'b', '__proto__', '1'), tie('value')), { maxLength: 3 })
      .map((members) => `{${members.map(([name, value]) => `"${name}": ${value}`).join(', ')}}`),
  ),
}));

it.each([
  ['numeric', number],
  ['timestamptz', instant],
  ['jsonb', json],
  ['bigint', fc.stringMatching(/^-?0{0,2}[012]{1,3}$/)],
  ['text', fc.constantFrom('1', '01', '1.0', '-0')],
])('two values of %s are equal exactly if PostgreSQL compares them as equal', async (type, value) => {
  await fc.assert(
    fc.asyncProperty(value, value, async (left, right) => {
      const [row] = await sql.unsafe<{ same: boolean }[]>(
        `select $1::text::${type} = $2::text::${type} as same`,
        [left, right],
      );
      expect(canonicalText(left, type) === canonicalText(right, type)).toBe(row?.same);
    }),
    { numRuns: 1_000 },
  );
});
