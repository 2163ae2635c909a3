import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseMicroseconds } from '../../src/lib/instant.ts';
import { createParser, type FileColumn } from '../../src/warehouse/file-columns.ts';
import { ParquetFile, unscaledDecimal } from '../../src/warehouse/parquet-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Duck, openDuck } from './lake.ts';

let duck: Duck;
const folder = temporaryFolder('parquet-file');

beforeAll(async () => {
  duck = await openDuck();
});
afterAll(() => {
  duck?.close();
});

const columns = (
  [
    ['own', 'text', 'text'],
    ['shared', 'text', 'text'],
    ['seldom', 'bigint', 'bigint'],
    ['yes', 'boolean', 'boolean'],
    ['moment', 'timestamptz', 'instant'],
    ['amount', 'numeric', 'decimal'],
    ['never', 'text', 'text'],
  ] as const
).map(
  ([name, type, stored], at): FileColumn => ({ name, type, stored, scale: 18, nullable: name !== 'own', at }),
);

/** The values of a row as texts, in the order of the columns. */
function textsOf(row: number): (string | null)[] {
  return [
    `own ${String(row).padStart(7, '0')}${'ä'.repeat(row % 5)}`,
    `shared ${row % 300}`,
    row % 7 === 0 ? String(BigInt(row - 50_000) * 9_007_199_254_740n) : null,
    row % 3 === 0 ? null : String(row % 2 === 0),
    `${row % 2 === 0 ? 2026 : 1969}-11-22T10:00:00.${String(row).padStart(6, '0')}Z`,
    row % 4 === 0 ? `-${row}.000000000000000001` : String(row),
    null,
  ];
}

const parsers = columns.map(createParser);

/** The values of a row, as PostgreSQL's texts parse. */
const valuesOf = (row: number) => {
  const texts = textsOf(row).map((text, place) => {
    if (text === null) return null;
    switch (columns[place]?.stored) {
      case 'boolean':
        return text === 'true' ? 't' : 'f';
      case 'instant':
        return String(parseMicroseconds(text));
      default:
        return text;
    }
  });
  return parsers.map((parse) => parse(texts));
};

it('returns rows of several row groups and pages as written, including nulls, dictionaries and statistics', async () => {
  const path = join(folder, 'many.parquet');
  const file = new ParquetFile(path, columns);
  const rows = Array.from({ length: 104_000 }, (_, row) => row);
  for (const row of rows) file.add(valuesOf(row));
  expect(await file.finish()).toMatchObject({ rows: rows.length });
  const read = await duck.rows(
    `select own, shared, seldom::varchar, yes::varchar, strftime(moment at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ'),
       regexp_replace(amount::varchar, '\\.?0+$', ''), never from read_parquet('${path}')`,
  );
  const expected = rows.map((row) =>
    textsOf(row).map((text, place) => (place === 5 && row === 0 ? '-0.000000000000000001' : text)),
  );
  expect(read.length).toBe(expected.length);
  expect(read.find((row, at) => JSON.stringify(row) !== JSON.stringify(expected[at]))).toBeUndefined();
  const statistics = await duck.rows(
    `select path_in_schema, encodings, stats_min_value, stats_max_value, stats_null_count::varchar from parquet_metadata('${path}')
     where row_group_id = 0 and path_in_schema in ('own', 'shared', 'seldom', 'amount', 'never') order by column_id`,
  );
  // A long text has 16 bytes there, the greatest rounded up.
  expect(statistics).toEqual([
    ['own', 'PLAIN', 'own 0000000', 'own 0049999äå', '0'],
    ['shared', 'PLAIN, RLE_DICTIONARY', 'shared 0', 'shared 99', '0'],
    ['seldom', 'PLAIN', String(-50_000n * 9_007_199_254_740n), String(-6n * 9_007_199_254_740n), '42857'],
    ['amount', 'PLAIN', '-49996.000000000000000001', '49999.000000000000000000', '0'],
    ['never', 'PLAIN', null, null, '50000'],
  ]);
});

it('stores decimals with every digit, and refuses those beyond DECIMAL(38, scale)', () => {
  const limit = 10n ** 38n;
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n - limit, max: limit - 1n }),
      fc.constantFrom(0, 18),
      fc.nat(3),
      (value, scale, zeros) => {
        const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
        const whole = digits.slice(0, digits.length - scale);
        const decimals = scale === 0 ? '' : `.${digits.slice(-scale)}${'0'.repeat(zeros)}`;
        expect(unscaledDecimal(`${value < 0n ? '-' : ''}${whole}${decimals}`, scale)).toBe(value);
      },
    ),
  );
  for (const [text, scale] of [
    ['0.5', 0],
    [`1${'0'.repeat(38)}`, 0],
    ['1'.repeat(21), 18],
    [`0.${'0'.repeat(18)}1`, 18],
    ...['NaN', '-Infinity', '', '-', '.5', '1e3'].map((none) => [none, 18] as const),
  ] as const)
    expect(unscaledDecimal(text, scale), text).toBeNull();
});

it('finds every text and number by a filter, which engines evaluate by the statistics of row groups', async () => {
  const path = join(folder, 'filtered.parquet');
  // The order of UTF-16 units differs from that of bytes for these.
  const texts = ['', 'a', '\ue000', '\uffff', '😀', '\ufeff', 'long '.repeat(10), `${'😀'.repeat(9)}z`];
  const amounts = [
    '-1',
    '0',
    '1.5',
    `-${'9'.repeat(20)}.${'9'.repeat(18)}`,
    `${'9'.repeat(20)}.${'9'.repeat(18)}`,
  ];
  const file = new ParquetFile(path, [
    { name: 'text', type: 'text', stored: 'text', scale: 0, nullable: true, at: 0 },
    { name: 'amount', type: 'numeric', stored: 'decimal', scale: 18, nullable: true, at: 1 },
  ]);
  for (const [text, amount] of [...texts.map((one) => [one, null]), ...amounts.map((one) => [null, one])]) {
    file.add([text ?? null, amount ?? null]);
    // It ends the row group by its size.
    file.add(['x'.repeat(16_000_000), null]);
  }
  await file.finish();
  for (const text of texts)
    expect(
      await duck.rows(`select count(*)::varchar from read_parquet('${path}') where text = '${text}'`),
      text,
    ).toEqual([['1']]);
  for (const amount of amounts)
    expect(
      await duck.rows(
        `select count(*)::varchar from read_parquet('${path}') where amount = '${amount}'::decimal(38, 18)`,
      ),
      amount,
    ).toEqual([['1']]);
  expect(await duck.rows(`select distinct compression from parquet_metadata('${path}')`)).toEqual([
    ['SNAPPY'],
  ]);
}, 30_000);

it('refuses a row without a required value, and writes no unreadable file', () => {
  const file = new ParquetFile(join(folder, 'refused.parquet'), columns);
  expect(() => file.add([null, ...valuesOf(0).slice(1)])).toThrow('own');
  file.abandon();
});
