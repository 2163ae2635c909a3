import fc from 'fast-check';
import postgres from 'postgres';
import { afterAll, expect, inject, it } from 'vitest';
import { identity } from '../../src/history/identity.ts';

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
    ([sign, before, whole, point, part, exponent]) =>
      `${sign}${before}${whole}${point === '' ? '' : point + part}${exponent}`,
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

it.each([
  ['numeric', number],
  ['timestamptz', instant],
])('two values of %s are the same exactly where PostgreSQL says so', async (type, value) => {
  await fc.assert(
    fc.asyncProperty(value, value, async (left, right) => {
      const [row] = await sql.unsafe<{ same: boolean }[]>(
        `select $1::text::${type} = $2::text::${type} as same`,
        [left, right],
      );
      expect(identity(left, type) === identity(right, type)).toBe(row?.same);
    }),
    { numRuns: 1_000 },
  );
});

it.each([
  ['numeric', '1', ['01', '1.0', '1e0', '10e-1', '001.00']],
  ['numeric', '0', ['-0', '0.0', '00', '0e7']],
  ['bigint', '7', ['07', '007']],
  ['text', '1', ['1']],
])('%s %s is %j', (type, value, others) => {
  for (const other of others) expect(identity(other, type)).toBe(identity(value, type));
});
