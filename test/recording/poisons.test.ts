import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { catalog } from '../../src/datasets/catalog.ts';
import type { Dataset, DatasetColumn } from '../../src/datasets/contract.ts';
import { jsonText, parseJson } from '../../src/upstreams/json.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { rowsIn } from '../support/rows.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../support/scripted-feed.ts';

/** Number of poisons over all datasets; one item in a hundred is one. */
const POISONS = Number(process.env.POISONS ?? 400);
const SECONDS_PER_POISON = 1;
const NEIGHBOURS = 99;
const MAX_POISONS_PER_PAGE = 40;

const { it, sql } = withDatabase();
/** Later than all points of the items. */
const clock = new ManualClock(Date.UTC(2150, 0, 1));

const itemColumns = ({ columns }: Dataset) => columns.filter(({ path }) => path.length > 0);
const keyColumns = (dataset: Dataset) =>
  itemColumns(dataset).filter(({ name }) => dataset.key.includes(name));

/** Returns JSON text of the example with raw JSON in place of some values, by path. */
function createItem(dataset: Dataset, values: readonly (readonly [readonly string[], string])[]): string {
  const item: Record<string, unknown> = structuredClone({ ...dataset.example });
  const raws = values.map(([path, raw], n) => {
    let inner = item;
    for (const name of path.slice(0, -1)) {
      const next = inner[name];
      const nested: Record<string, unknown> = typeof next === 'object' && next !== null ? { ...next } : {};
      inner[name] = nested;
      inner = nested;
    }
    inner[path.at(-1) ?? ''] = `@raw-${n}@`;
    return raw;
  });
  return raws.reduce((text, raw, n) => text.replace(`"@raw-${n}@"`, () => raw), JSON.stringify(item));
}

/** A value of the key that no other item has. */
function keyValue({ type }: DatasetColumn, n: number): string {
  return type === 'text'
    ? `"key-${n}"`
    : type === 'timestamptz'
      ? String(1_699_999_200 + n * 3_600)
      : String(n);
}

const withKey = (dataset: Dataset, n: number, more: readonly (readonly [readonly string[], string])[] = []) =>
  createItem(dataset, [
    ...keyColumns(dataset).map((column) => [column.path, keyValue(column, n)] as const),
    ...linkValues(dataset, n),
    ...more,
  ]);

/** The ids of an entry of a chain and of its parent. */
function linkValues(dataset: Dataset, n: number): (readonly [readonly string[], string])[] {
  const { chain } = dataset;
  if (!chain) return [];
  return itemColumns(dataset).flatMap(({ name, path }) =>
    name === chain.id
      ? [[path, `"block-${n}"`] as const]
      : name === chain.parent
        ? [[path, `"block-${n - 1}"`] as const]
        : [],
  );
}

// Values beyond PostgreSQL's limits, by type of column.
const outOfRangeNumbers = [
  ...['1e200000', '-1e200000', '1e-20000', `${'9'.repeat(140_000)}`, `0.${'0'.repeat(17_000)}1`],
  ...['"NaN"', '"Infinity"', '1e400'],
];
const outOfRangeValues: Readonly<Record<string, readonly string[]>> = {
  numeric: outOfRangeNumbers,
  'double precision': outOfRangeNumbers,
  bigint: [
    ...['9223372036854775808', '-9223372036854775809', '99999999999999999999', '1.5'],
    ...outOfRangeNumbers,
  ],
  timestamptz: [
    ...['1e300', '-1e15', '9224318016000', '"294277-01-01T00:00:00Z"', '"infinity"'],
    ...['"2026-02-30T00:00:00Z"', '18446744073709551615'],
  ],
  boolean: ['"maybe"', '2', '"t"'],
  text: ['"a\\u0000b"', '"\\ud800"', '"\\udfff\\\\u0000"'],
  jsonb: [
    ...['[1e200000]', '["\\u0000",{"\\ud800":"\\u0000"}]', '[{"a":1e-20000}]', '{"a":1}'],
    `["${'x'.repeat(200_000)}"]`,
  ],
};
const anyType = [
  ...['null', 'true', '12', '-7', '"text"', '""', '[]', '{}', '[[1]]', '{"a":[]}', '1.5', '1e3'],
  ...['"1e3"', '[null]'],
];

const deep = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`;
const unknownFields = [
  ...['1e200000', '-1e-20000', '["\\u0000"]', '{"\\ud800":{"\\u0000":"\\udfff"}}', deep(450)],
  ...[deep(3_000), deep(30_000), deep(120_000), `"${'\\u0000'.repeat(1_000)}"`],
  ...['9'.repeat(150_000), '{"a":1,"a":{"a":2}}', '{"__proto__":{"a":1e200000}}'],
];

/** An item with one invalid value; `n` is its own key, `other` a neighbour's. */
function createPoison(dataset: Dataset): fc.Arbitrary<(n: number, other: number) => string> {
  const columns = itemColumns(dataset);
  const keys = keyColumns(dataset);
  const texts = keys.filter(({ type }) => type === 'text');
  const anyColumn = fc.constantFrom(...columns);
  const outOfRange = anyColumn.chain((column) =>
    fc.constantFrom(...(outOfRangeValues[column.type] ?? anyType)).map((raw) => [column.path, raw] as const),
  );
  const mistyped = fc
    .tuple(anyColumn, fc.constantFrom(...anyType))
    .map(([{ path }, raw]) => [path, raw] as const);
  const unknown = fc.constantFrom(...unknownFields).map((raw) => [['novelField'], raw] as const);
  const long = fc
    .integer({ min: 300, max: 6_000 })
    .map((length) => JSON.stringify(randomBytes(length).toString('hex')));
  const wide = fc
    .constant(null)
    .map(() =>
      JSON.stringify([...randomBytes(500)].map((byte) => String.fromCodePoint(0x4e00 + byte * 80)).join('')),
    );
  const kinds: fc.Arbitrary<(n: number, other: number) => string>[] = [
    outOfRange.map((value) => (n) => withKey(dataset, n, [value])),
    mistyped.map((value) => (n) => withKey(dataset, n, [value])),
    unknown.map((value) => (n) => withKey(dataset, n, [value])),
    fc.constantFrom('null', '7', '"x"', '[]', '[{}]', '{}', 'true').map((raw) => () => raw),
  ];
  // The key of a neighbour, with other values.
  if (dataset.extra !== false)
    kinds.push(unknown.map((value) => (_, other) => withKey(dataset, other, [value, [['another'], '1']])));
  if (texts.length > 0)
    kinds.push(
      fc.tuple(fc.constantFrom(...texts), long).map(
        ([{ path }, raw]) =>
          (n) =>
            withKey(dataset, n, [[path, raw]]),
      ),
      wide.map(
        (raw) => (n) =>
          withKey(
            dataset,
            n,
            texts.map(({ path }) => [path, raw]),
          ),
      ),
    );
  return fc.oneof(...kinds);
}

interface PageCounts {
  readonly served: number;
  readonly stored: number;
  readonly quarantined: number;
}

/** Records a page and checks that everything except its poisons is stored, and each poison is reported. */
async function recordPoisoned(
  dataset: Dataset,
  target: Record<string, string>,
  poisons: readonly string[],
  validItems: readonly string[],
  at: number,
): Promise<PageCounts> {
  // Excludes conditions on requests and grids, which other tests cover.
  const { states: _, ...declared } = dataset;
  const listed: Dataset = {
    ...declared,
    ...(dataset.interval && { interval: () => 'hour' }),
    items: (body: unknown) => (Array.isArray(body) ? body : []),
  };
  const feed = scriptedFeed(listed, target);
  // Poisons are at their own places among the others.
  const items = [...validItems];
  for (const [n, poison] of poisons.entries()) items.splice((n * 97 + at) % (items.length + 1), 0, poison);
  feed.script = () => onlyPage(parseJson(`[${items.join(',')}]`));
  clock.now += 60_000;
  // Without a request column all pages are of one target.
  if (dataset.request.length === 0) await sql`truncate recorder.quarantine, recorder.${sql(dataset.name)}`;
  const result = await run(recordingContext(sql, clock.read), feed);
  const about = `${dataset.name}: ${poisons.map((one) => one.slice(0, 200)).join('\n')}`;
  expect(['done', 'partial'], `${result.error} ${about}`).toContain(result.status);
  expect(result.items).toBe(items.length);
  const [counts] = await sql<
    { stored: number; rows: number; times: number; quarantined: number; incomplete: string | null }[]
  >`
    select (select count(*)::int from ${sql.unsafe(rowsIn(dataset))} r where run_id = ${result.runId}) as stored,
      (select count(*)::int from recorder.quarantine where run_id = ${result.runId}) as rows,
      (select coalesce(sum(times), 0)::int from recorder.quarantine where run_id = ${result.runId}) as times,
      (select quarantined::int from recorder.runs where run_id = ${result.runId}) as quarantined,
      (select incomplete_reason from recorder.target_datasets where source = ${feed.source.name}) as incomplete`;
  if (!counts) throw new Error('no counts');
  expect(counts.times, about).toBe(result.quarantined);
  expect(counts.quarantined, about).toBe(result.quarantined);
  expect(counts.incomplete === null, about).toBe(result.quarantined === 0);
  // Two poisons may be identical. If they can be stored, they are one item listed twice.
  const quarantinedTexts = new Set(
    (await sql<{ item: string }[]>`select item from recorder.quarantine where run_id = ${result.runId}`).map(
      ({ item }) => item,
    ),
  );
  const repeated = items.filter((item, n) => items.indexOf(item) < n);
  const duplicateCount = repeated.filter((item) => !quarantinedTexts.has(jsonText(parseJson(item)))).length;
  expect(counts.stored + counts.times + duplicateCount, about).toBe(items.length);
  // The same page again: nothing new is written, and nothing is quarantined twice.
  clock.now += 60_000;
  if (dataset.history !== 'sample') {
    const secondRun = await run(recordingContext(sql, clock.read), feed);
    expect(secondRun, about).toMatchObject({
      status: result.status,
      quarantined: result.quarantined,
      rowsWritten: [0],
    });
    const [bothRuns] = await sql<{ rows: number }[]>`
      select count(*)::int as rows from recorder.quarantine where run_id in (${result.runId}, ${secondRun.runId})`;
    expect(bothRuns?.rows, about).toBe(counts.rows);
  }
  return { served: items.length - duplicateCount, stored: counts.stored, quarantined: counts.times };
}

const totals = { poisons: 0, served: 0, stored: 0, quarantined: 0 };

describe('stores everything else of a page with poisoned items:', () => {
  const share = Math.max(1, Math.round(POISONS / catalog.length));
  it.each(catalog.map((dataset) => [dataset.name, dataset] as const))(
    '%s',
    async (name, dataset) => {
      const seed = Number(process.env.SEED ?? 1);
      const poisons = fc.sample(createPoison(dataset), { numRuns: share, seed });
      const single = keyColumns(dataset).length === 0;
      const size = single ? 1 : MAX_POISONS_PER_PAGE;
      for (let at = 0; at < poisons.length; at += size) {
        const pagePoisons = poisons.slice(at, at + size);
        const first = (at + 1) * 100;
        const target = Object.fromEntries(dataset.request.map((key) => [key, `${key}-${name}-${at}`]));
        // In a dataset with one item per target, the neighbours are its other targets.
        const validItems = single
          ? []
          : Array.from({ length: pagePoisons.length * NEIGHBOURS }, (_, n) => withKey(dataset, first + n));
        // No poison is the parent of another one: a changed but valid id is not in its chain.
        const poisonedItems = pagePoisons.map((poison, n) => poison(1_000_000 + first + 2 * n, first + n));
        const counts = await recordPoisoned(dataset, target, poisonedItems, validItems, at);
        totals.poisons += poisonedItems.length;
        totals.served += counts.served;
        totals.stored += counts.stored;
        totals.quarantined += counts.quarantined;
        if (single) continue;
        const [column] = keyColumns(dataset).filter(({ type }) => type !== 'timestamptz');
        const [time] = keyColumns(dataset);
        const [stored] = await sql<{ n: number }[]>`
        select count(*)::int as n from ${sql.unsafe(rowsIn(dataset))} r
        where ${column ? sql`${sql(column.name)}::text` : sql`extract(epoch from ${sql(time?.name ?? '')})::bigint::text`} = any(${validItems.map(
          (_, n) => {
            const one = column ?? time;
            return one ? keyValue(one, first + n).replaceAll('"', '') : '';
          },
        )}::text[])`;
        expect(stored?.n, 'every neighbour').toBeGreaterThanOrEqual(validItems.length);
      }
    },
    30_000 + share * SECONDS_PER_POISON * 1000,
  );

  it('and all counts add up', () => {
    expect(totals.stored + totals.quarantined).toBe(totals.served);
    process.stdout.write(`poisons: ${JSON.stringify(totals)}\n`);
  });
});
