import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { catalog } from '../../src/datasets/catalog.ts';
import type { Dataset } from '../../src/datasets/contract.ts';
import { columnOf } from '../../src/datasets/fields.ts';
import { unwrap } from '../../src/datasets/unwrap.ts';
import { itemColumns } from '../../src/recording/histories/batch.ts';
import { buildItemReader } from '../../src/recording/item-reader.ts';
import { parseJson } from '../../src/upstreams/json.ts';

/** Number of random items; by hand: `READ_ITEMS=1000000 npx vitest run test/recording/item-reader.test.ts` */
const ITEMS = Number(process.env.READ_ITEMS ?? 8_000);
const SEED = Number(process.env.SEED ?? 1);

/** Returns the values that the schema parses from an item, column by column; null: refused. */
function parseBySchema(dataset: Dataset, item: unknown): readonly (string | null)[] | null {
  const { data } = dataset.item.safeParse(item);
  if (!data) return null;
  const row = itemColumns(dataset).map(({ path, part }) => {
    let value: unknown = data;
    for (const name of part ? [...path, part] : path)
      value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
    return typeof value === 'string' ? value : null;
  });
  return [...row, null];
}

/** Returns whether the schema names each member of an item and of its objects, or excludes it. */
function isNamed(schema: z.ZodObject, item: object, ignored: readonly string[] = []): boolean {
  return Object.entries(item).every(([name, value]) => {
    const { inner } = unwrap(Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined);
    if (inner === undefined) return ignored.includes(name);
    return inner instanceof z.ZodObject && value ? isNamed(inner, value) : true;
  });
}

const number = fc.oneof(
  fc.nat().map(String),
  fc.bigInt(-(2n ** 80n), 2n ** 80n).map(String),
  fc.constantFrom(
    '-0',
    '0.10',
    '1e400',
    '1E-7',
    '253402300799',
    '253402300800',
    '1700000000.5',
    '18446744073709551615',
  ),
);
const unusual = fc.constantFrom(
  '""',
  '" 17 "',
  '"\\u0000"',
  '"\\\\u0000"',
  '"\\ud800"',
  '"2026-02-30T00:00:00Z"',
  '[]',
  '{}',
  '[{}]',
  '{"value":1,"__proto__":2}',
);
const anyValue = fc.oneof(
  number,
  number.map((digits) => `"${digits}"`),
  unusual,
  fc.constantFrom('null', 'true', 'false', '"0xAbC"', '"2026-01-02T03:04:05.123456789Z"'),
  fc.string().map((text) => JSON.stringify(text)),
);

const RFC3339 = '2026-01-02T03:04:05.123456Z';
/** JSON texts that most leaves accept, by the type of their columns. */
const ACCEPTED: Readonly<Record<string, fc.Arbitrary<string>>> = {
  text: fc.string().map((text) => JSON.stringify(text)),
  numeric: fc.bigInt(0n, 2n ** 256n).map(String),
  bigint: fc.nat().map(String),
  boolean: fc.constantFrom('true', 'false'),
  timestamptz: fc.nat().map(String),
  jsonb: fc.array(number).map((all) => `[${all.join(',')}]`),
};

/** JSON texts that a leaf accepts in nearly all cases. */
function texts(column: ReturnType<typeof columnOf>): fc.Arbitrary<string> {
  if (column?.read(RFC3339) === RFC3339 && column.type === 'timestamptz')
    return fc.constant(JSON.stringify(RFC3339));
  return ACCEPTED[column?.type ?? ''] ?? anyValue;
}

/**
 * JSON texts of items, most of which the schema accepts. @param ignored members that it does not name, and that some
 * items have
 */
function items(schema: z.ZodObject, ignored: readonly string[] = []): fc.Arbitrary<string> {
  const members = Object.entries(schema.shape).map(([name, member]) => {
    const { inner, nullable } = unwrap(member);
    const accepted = inner instanceof z.ZodObject ? items(inner) : texts(columnOf(inner));
    const missing = nullable ? fc.constantFrom(undefined, 'null') : accepted;
    return fc
      .oneof(
        { weight: 60, arbitrary: accepted },
        { weight: 20, arbitrary: missing },
        { weight: 1, arbitrary: anyValue },
        { weight: 1, arbitrary: fc.constant(undefined) },
      )
      .map((value) => [name, value] as const);
  });
  const unknown = fc.tuple(
    fc.constantFrom('novel', '__proto__', 'constructor', 'toString', ''),
    fc.option(anyValue, { nil: undefined, freq: 3 }),
  );
  const ignoredMembers = ignored.map((name) =>
    fc.option(anyValue, { nil: undefined }).map((value) => [name, value] as const),
  );
  return fc
    .tuple(unknown, ...members, ...ignoredMembers)
    .map(
      (entries) =>
        `{${entries
          .flatMap(([name, value]) => (value === undefined ? [] : [`${JSON.stringify(name)}:${value}`]))
          .join(',')}}`,
    );
}

describe('an item is decoded by its schema', () => {
  it.each(catalog.map((dataset) => [dataset.name, dataset] as const))('of %s', (_, dataset) => {
    const read = buildItemReader(dataset);
    let acceptedCount = 0;
    fc.assert(
      fc.property(
        fc.oneof({ weight: 50, arbitrary: items(dataset.item, dataset.ignore) }, anyValue),
        (text) => {
          const item = parseJson(text);
          const expected = parseBySchema(dataset, item);
          const itemRow = read(item);
          expect(itemRow?.row ?? null).toEqual(expected);
          if (!itemRow || typeof item !== 'object' || item === null) return;
          expect(itemRow.named).toBe(isNamed(dataset.item, item, dataset.ignore));
          acceptedCount += 1;
        },
      ),
      { numRuns: Math.ceil(ITEMS / catalog.length), seed: SEED },
    );
    // The comparison is meaningful only if some items are accepted.
    expect(acceptedCount).toBeGreaterThan(0);
  });
});
