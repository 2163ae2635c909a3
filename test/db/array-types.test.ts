import fc from 'fast-check';
import type postgres from 'postgres';
import { afterAll, beforeAll, expect } from 'vitest';
import { connect } from '../../src/db/connect.ts';
import { withDatabase } from '../support/fixture.ts';

const { it, database } = withDatabase();
let sql: postgres.Sql;
const client = () => connect(database.url, 60_000, { max: 1, onnotice: () => {} });
beforeAll(async () => {
  sql = client();
});
afterAll(async () => {
  await sql.end();
});

it('lists every recorded or shown array type', async () => {
  const types = await sql<{ type: string; oid: number }[]>`
    select distinct format_type(a.atttypid, null) as type, a.atttypid::int as oid
    from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_type t on t.oid = a.atttypid
    where c.relnamespace::regnamespace::text in ('recorder', 'reporting', 'reporting_lists', 'reporting_internal') and a.attnum > 0 and t.typcategory = 'A'`;
  expect(types.length).toBeGreaterThan(4);
  expect(types.filter(({ oid }) => !sql.options.parsers[oid])).toEqual([]);
});

it('identifies arrays by the type numbers of the server', async () => {
  const parsedOids = Object.keys(sql.options.parsers).map(Number);
  const arrayTypes = await sql<{ element: number; oid: number }[]>`
    select typelem::int as element, oid::int from pg_type where typcategory = 'A' and oid = any(${parsedOids}::oid[])`;
  expect(arrayTypes.length).toBeGreaterThan(25);
  for (const { element, oid } of arrayTypes) {
    const [row] = await sql.unsafe<{ is: unknown }[]>(`select array[null, null]::${await nameOf(oid)} as is`);
    expect(row).toEqual({ is: [null, null] });
    expect(element).toBeGreaterThan(0);
  }
});

const nameOf = async (oid: number) =>
  (await sql<{ name: string }[]>`select format_type(${oid}::oid, null) as name`)[0]?.name ?? '';

it('reads and writes any texts, nested and with nulls', async () => {
  const texts = fc.array(
    fc.option(
      fc.oneof(
        fc.constantFrom('null', 'NULL', '', '1', 'a.b'),
        fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0') && text.isWellFormed()),
      ),
    ),
    { maxLength: 20 },
  );
  await fc.assert(
    fc.asyncProperty(texts, async (values) => {
      const [row] = await sql`select ${values}::text[] as texts, cardinality(${values}::text[]) as count`;
      expect(row).toEqual({ texts: values, count: values.length });
    }),
    { numRuns: 300 },
  );
  const nested = [
    ['a', '"b'],
    ['null', '\\{,}'],
  ];
  expect(await sql`select ${nested}::text[] as nested`).toEqual([{ nested }]);
});

it('reads and writes elements as single values', async () => {
  const rows = await sql`
    select array[true, false, null] as flags, ${[1, -2]}::int[] as ints, ${['9007199254740993']}::bigint[] as longs,
      ${['1.50', null]}::numeric[] as numbers, ${['2026-11-22T10:11:12.345Z']}::timestamptz[] as moments,
      array['{"a": [1, null]}', null]::jsonb[] as values, ${[1.5]}::float8[] as floats, array['\\x00ff'::bytea] as bytes`;
  expect(rows).toEqual([
    {
      flags: [true, false, null],
      ints: [1, -2],
      longs: ['9007199254740993'],
      numbers: ['1.50', null],
      moments: [new Date('2026-11-22T10:11:12.345Z')],
      values: [{ a: [1, null] }, null],
      floats: [1.5],
      bytes: [Buffer.from([0, 255])],
    },
  ]);
});

it('sends the text of a boolean or a time unchanged', async () => {
  expect(
    await sql`select ${'true'}::boolean as flag, ${'2026-11-22T10:11:12.345678Z'}::timestamptz::text as moment`,
  ).toEqual([{ flag: true, moment: '2026-11-22 10:11:12.345678+00' }]);
});

it('accepts an array that is a text already, and refuses undefined', async () => {
  expect(await sql`select ${'{1,2}'}::int[] as ints`).toEqual([{ ints: [1, 2] }]);
  await expect(sql`select ${Array(2).fill(undefined)}::int[]`).rejects.toThrow('undefined');
});

it('leaves no unhandled rejection if a client is ended while it connects', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  const before = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', note);
  try {
    for (let turns = 0; turns < 3_000; turns += 20) {
      const ending = client();
      const query = ending`select 1`.catch((error: unknown) => error);
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
      await ending.end({ timeout: 0 });
      await query;
    }
  } finally {
    process.removeAllListeners('unhandledRejection');
    for (const listener of before) process.on('unhandledRejection', listener);
  }
  expect(unhandled).toEqual([]);
});

it('returns each JSON number that a double cannot hold as a text, in arrays of JSON too', async () => {
  const [row] = await sql`
    select '{"a": 12345678901234567890, "b": [1.5, 0.12345678901234567890], "c": "7"}'::jsonb as one,
      array['18446744073709551615'::json, '{"n": -9007199254740993}'] as several`;
  expect(row).toEqual({
    one: { a: '12345678901234567890', b: [1.5, '0.12345678901234567890'], c: '7' },
    several: ['18446744073709551615', { n: '-9007199254740993' }],
  });
});
