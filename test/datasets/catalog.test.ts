import { describe, expect } from 'vitest';
import { catalog, feeds } from '../../src/datasets/catalog.ts';
import type { Dataset } from '../../src/datasets/contract.ts';
import { requestColumns } from '../../src/datasets/target-columns.ts';
import { unwrap } from '../../src/datasets/unwrap.ts';
import { buildDecoder } from '../../src/recording/decode.ts';
import { targetKey } from '../../src/recording/target-key.ts';
import { recorded as everything } from '../../src/reporting/recorded-datasets.ts';
import { jsonText, parseJson } from '../../src/upstreams/json.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { rowsIn } from '../support/rows.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../support/scripted-feed.ts';

const { it, sql } = withDatabase();

const clock = new ManualClock(Date.UTC(2026, 0, 10));
let targets = 0;

/** Records items, given as JSON, and returns their rows and quarantined items. */
async function recordItems(dataset: Dataset, ...items: string[]) {
  targets += 1;
  // Without a request column the rows of two tests cannot be distinguished.
  if (dataset.request.length === 0) await sql`truncate recorder.${sql(dataset.name)}`;
  const target = Object.fromEntries(dataset.request.map((key) => [key, `${key}-${targets}`]));
  // The examples name other objects than the target.
  const { states: _, ...declared } = dataset;
  const listed = { ...declared, items: (body: unknown) => (Array.isArray(body) ? body : []) };
  const feed = scriptedFeed(listed, target);
  feed.script = () => onlyPage(parseJson(`[${items.join(',')}]`));
  const result = await run(recordingContext(sql, clock.read), feed);
  const rows = await sql<Record<string, string | null>[]>`
    select ${sql.unsafe(dataset.columns.map(({ name }) => `${name}::text`).join(', '))}, extra::text
    from ${sql.unsafe(rowsIn(dataset))} r where run_id = ${result.runId}`;
  const quarantined = await sql<{ reason: string }[]>`
    select reason from recorder.quarantine where run_id = ${result.runId}`;
  return { result, rows: [...rows], quarantined: [...quarantined] };
}

/** Returns the value at a path of the example, or undefined. */
function valueAt(example: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined),
    example,
  );
}

/** Required fields of the item. */
const required = ({ item }: Dataset) =>
  Object.entries(item.shape).flatMap(([name, member]) => (unwrap(member).nullable ? [] : [name]));

type Kind = (typeof everything)[number]['history'];

const added: Readonly<Record<Kind, Readonly<Record<string, string>>>> = {
  log: { valid_from: 'timestamptz', valid_to: 'timestamptz?' },
  sample: { observed_at: 'timestamptz' },
  state: {
    valid_from: 'timestamptz',
    valid_to: 'timestamptz?',
    ended_by: 'text?',
    missed_walks: 'integer?',
    missed_since: 'timestamptz?',
    confirmed_at: 'timestamptz?',
  },
  series: { valid_from: 'timestamptz', valid_to: 'timestamptz?', vanished: 'boolean' },
  ledger: {
    started_at: 'timestamptz',
    ended_at: 'timestamptz?',
    reported: 'boolean',
    probes_before: 'bigint',
    probes: 'bigint?',
    failing_since: 'timestamptz?',
    failures: 'bigint?',
    last_error: 'text?',
    last_message: 'jsonb?',
  },
};

describe.each(catalog.map((dataset) => [dataset.name, dataset] as const))(
  'a recording of %s',
  (_, dataset) => {
    const example = JSON.stringify(dataset.example);

    it.each(['{}', '{"x":{}}', '{"ofALaterVersion":1}'])('stores no row of the response %s', (text) => {
      const target = Object.fromEntries(dataset.request.map((key) => [key, key]));
      let rows: readonly unknown[] = [];
      try {
        ({ rows } = buildDecoder(dataset).page(parseJson(text), target));
      } catch (error) {
        expect(error).toMatchObject({ kind: 'malformed' });
      }
      expect(rows).toEqual([]);
    });

    it('stores its example, every field in its column', async () => {
      const { result, rows, quarantined } = await recordItems(dataset, example);
      expect(quarantined).toEqual([]);
      expect(result).toMatchObject({ status: 'done', rowsWritten: [1] });
      const [row] = rows;
      for (const { name: column, path } of dataset.columns) {
        const isInExample = path.length === 0 || (valueAt(dataset.example, path) ?? null) !== null;
        expect(row?.[column] === null, `${column} is null`).toBe(!isInExample);
      }
      expect(row?.extra, 'every field of the example has a column').toBeNull();
    });

    it('keeps an unknown field exactly in extra', async () => {
      const novel = '{"deep":[18446744073709551615,{"__proto__":1}]}';
      const { rows } = await recordItems(dataset, example.replace(/}$/, `,"novelField":${novel}}`));
      const extra = dataset.extra === false ? null : parseJson(`{"novelField":${novel}}`);
      expect(rows.map((row) => parseJson(row.extra ?? 'null'))).toEqual([extra]);
    });

    it.each([...required(dataset).map((field) => [field])])(
      'quarantines an item without %s, and stores the others',
      async (field) => {
        const { [field]: _, ...broken } = dataset.example;
        const { result, rows, quarantined } = await recordItems(dataset, JSON.stringify(broken), example);
        expect(result).toMatchObject({ status: 'partial', items: 2, quarantined: 1 });
        expect(rows).toHaveLength(1);
        expect(quarantined).toEqual([{ reason: expect.stringContaining(field) }]);
      },
    );

    it('accepts an item with only the required fields', async () => {
      const fields = required(dataset);
      // An item without any documented field is rejected.
      const [first = ''] = Object.keys(dataset.example);
      const bare = Object.fromEntries(
        (fields.length > 0 ? fields : [first]).map((field) => [field, dataset.example[field]]),
      );
      const { rows, quarantined } = await recordItems(dataset, JSON.stringify(bare));
      expect(quarantined).toEqual([]);
      expect(rows).toHaveLength(1);
    });

    it.each(
      dataset.columns
        .filter(({ type, path }) => type === 'numeric' && path.length > 0)
        .map((column) => [column]),
    )('stores $path exactly, also as a JSON number past 2^53', async ({ name: column, path }) => {
      const number = '340282366920938463463374607431768211455';
      const [row] = (await recordItems(dataset, withValue(dataset.example, path, number))).rows;
      expect(row?.[column]).toBe(number);
    });

    it.each(dataset.columns.filter(({ part }) => part === 'raw').map((column) => [column]))(
      'stores $path beyond the range of dates as its number in $name, which every view shows',
      async ({ name: column, path }) => {
        const item = withValue(dataset.example, path, '18446744073709551615');
        const { rows, quarantined } = await recordItems(dataset, item);
        expect(quarantined).toEqual([]);
        const time = column.replace(/_raw$/, '');
        expect(rows).toMatchObject([{ [time]: null, [column]: '18446744073709551615' }]);
        const views = await sql<{ view: string; columns: string[] }[]>`
          select table_name::text as view, array_agg(column_name::text) as columns
          from information_schema.columns
          where table_schema = 'reporting' and table_name in (${dataset.relation}, ${`${dataset.relation}_history`}) group by 1`;
        expect(views.length).toBeGreaterThan(0);
        for (const { columns } of views) expect(columns).toContain(column);
      },
    );

    it('shows its example in reporting, with its lists flattened', async () => {
      const { result } = await recordItems(dataset, example);
      const reportedRows =
        await sql`select 1 from reporting.${sql(dataset.relation)} where run_id = ${result.runId}`;
      expect(reportedRows).toHaveLength(1);
      for (const { name: column, path, element } of dataset.columns) {
        if (!element) continue;
        const value = valueAt(dataset.example, path);
        const key = dataset.key[0] ?? '';
        const elements = await sql`
        select f.* from reporting_lists.${sql(`${dataset.relation}_${column}`)} f
        join reporting.${sql(dataset.relation)} d using (version_id) where d.run_id = ${result.runId}`;
        expect(elements, `${column} by ${key}`).toHaveLength(Array.isArray(value) ? value.length : 0);
      }
    });
  },
);

const isNumbered = (one: (typeof everything)[number]) => 'numbered' in one && one.numbered === true;

describe.each(everything.map((dataset) => [dataset.name, dataset] as const))('%s', (name, dataset) => {
  const { relation } = dataset;
  it('has a table with the columns of its declaration and of its kind of history', async () => {
    const rows = await sql<{ column: string; type: string; nullable: boolean }[]>`
      select a.attname as column, not a.attnotnull as nullable,
        replace(format_type(a.atttypid, a.atttypmod), 'timestamp with time zone', 'timestamptz') as type
      from pg_attribute a where a.attrelid = ${`recorder.${name}`}::text::regclass and a.attnum > 0 and not a.attisdropped
      order by a.attname`;
    const expected = [
      ...(isNumbered(dataset) ? [['series_id', 'integer']] : []),
      ...dataset.columns
        .filter(({ path }) => path.length > 0 || !isNumbered(dataset))
        .map(({ name: column, type, nullable }) => [column, nullable ? `${type}?` : type]),
      ['extra', 'jsonb?'],
      ...(dataset.history === 'ledger' ? [] : [['run_id', 'bigint']]),
      ...Object.entries(added[dataset.history]),
    ];
    const byName = ([a = '']: readonly string[], [b = '']: readonly string[]) => (a < b ? -1 : 1);
    expect(
      rows.map(({ column, type, nullable }) => [column, nullable ? `${type}?` : type]).sort(byName),
    ).toEqual(expected.sort(byName));
  });

  it('has a key of its own columns with a unique index', async () => {
    const names = dataset.columns.map((column) => column.name);
    expect(dataset.key.filter((column) => !names.includes(column))).toEqual([]);
    expect(dataset.key.length).toBeGreaterThan(0);
    // Rows of different requests, such as of two networks in one database, are different rows.
    expect(dataset.key).toEqual(expect.arrayContaining(requestColumns(dataset)));
    const indexes = await sql<{ definition: string }[]>`
      select indexdef as definition from pg_indexes
      where schemaname = 'recorder' and tablename = ${name} and indexdef like 'CREATE UNIQUE%'`;
    const hasIndex = indexes.some(({ definition }) =>
      (isNumbered(dataset) ? ['series_id', 'bucket_start'] : dataset.key).every((column) =>
        new RegExp(`\\b${column}\\b`).test(definition.split('(').slice(1).join('(')),
      ),
    );
    expect(hasIndex).toBe(true);
  });

  it('has a description, operations, and a comment for each column', () => {
    expect(dataset.about).toMatch(/^[A-Z].*\.$/);
    expect(dataset.operations.length).toBeGreaterThan(0);
    expect(dataset.columns.filter(({ comment }) => comment === '')).toEqual([]);
    expect(name).toMatch(/^[a-z][a-z0-9_]{0,50}$/);
  });

  it('has the columns in reporting of its kind of history', async () => {
    const promised: Readonly<Record<Kind, readonly string[]>> = {
      log: [relation, `${relation}_history`, `${relation}_as_of()`],
      sample: [relation],
      state: [relation, `${relation}_history`, `${relation}_changes`, `${relation}_as_of()`],
      series: [relation, `${relation}_history`, `${relation}_as_of()`],
      ledger: [relation, `${relation}_history`],
    };
    const rows = await sql<{ object: string }[]>`
      select table_name::text as object from information_schema.views where table_schema in ('reporting', 'reporting_lists')
      union all
      select proname::text || '()' from pg_proc where pronamespace = 'reporting'::regnamespace`;
    const present = rows.map(({ object }) => object);
    const lists = dataset.columns
      .filter(({ element }) => element)
      .map((column) => `${relation}_${column.name}`);
    const merged = relation === name ? [] : [name, `${name}_as_of()`];
    expect(
      [...promised[dataset.history], ...merged, ...lists].filter((object) => !present.includes(object)),
    ).toEqual([]);
  });
});

describe('the catalog', () => {
  it('names every dataset and every source once', () => {
    const names = everything.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const sources = [...new Set(everything.map(({ source }) => source))].map(({ name }) => name);
    expect(new Set(sources).size).toBe(sources.length);
  });

  it('has targets that do not depend on the order of the configuration', () => {
    const scopeOf = ([one, other]: readonly [string, string]) => {
      const texts = [one, other];
      const places = texts.map((address) => ({ chain: '1', address }));
      const watch = {
        ...{ chains: texts, nodeIds: texts, subnets: texts, addresses: texts, assets: texts },
        ...{ evmAddresses: places, contracts: places, collections: places },
        transactions: texts.map((hash) => ({ chain: '1', hash })),
      };
      return { network: 'n', observer: 'o', shares: 1, nodes: ['node'], tags: {}, options: {}, watch };
    };
    for (const { source } of feeds) {
      const keys = [scopeOf(['1', '2']), scopeOf(['2', '1'])].map((scope) =>
        source.targets(scope).map(targetKey).sort(),
      );
      expect(keys[0], source.name).toEqual(keys[1]);
    }
  });

  it('equals the datasets of the feeds, each in one', () => {
    expect(feeds.flatMap(({ datasets }) => datasets.map(({ name }) => name)).sort()).toEqual(
      catalog.map(({ name }) => name).sort(),
    );
  });
});

/** Returns the example as JSON, with a number written in full at a path. */
function withValue(example: unknown, path: readonly string[], number: string): string {
  const [name, ...rest] = path;
  if (name === undefined) return number;
  const before = typeof example === 'object' && example !== null ? Object.entries(example) : [];
  const members = before
    .filter(([key]) => key !== name)
    .map(([key, value]) => `${JSON.stringify(key)}:${jsonText(value)}`);
  const inner = before.find(([key]) => key === name)?.[1];
  return `{${[...members, `${JSON.stringify(name)}:${withValue(inner, rest, number)}`].join(',')}}`;
}
