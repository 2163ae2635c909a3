import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect } from 'vitest';
import { type Declared, dependenciesOf, inOrder, isPublic, qualifiedName } from '../../../src/db/declared.ts';
import { HIGHEST_ERROR_TEXT, representativeMs } from '../../../src/health/latency-histogram.ts';
import { WEEKS_KEPT } from '../../../src/health/latency-store.ts';
import { recorded } from '../../../src/reporting/recorded-datasets.ts';
import { declaredObjects, readSqlFile } from '../../../src/reporting/views/declared-objects.ts';
import {
  findIncompatibleChanges,
  lastRelease,
  releasedAs,
  sortAsReleased,
} from '../../../src/reporting/views/released-columns.ts';
import { withDatabase } from '../../support/fixture.ts';

const FOLDER = new URL('../../../src/reporting/views/sql/', import.meta.url);
const files = readdirSync(FOLDER).map((file) => ({
  file,
  text: readFileSync(new URL(file, FOLDER), 'utf8'),
}));
const declared = declaredObjects();

const { it, sql } = withDatabase({ max: 1 });

/** Files in which intervals of days or months are added to times without a time zone, or compared. */
const DAYS_OF_UTC = [
  ...[
    'calendar.sql',
    'day_ends.sql',
    'metric_settling_of.sql',
    'metric_week_over_week.sql',
    'node_latency.sql',
  ],
  ...['node_uptime_by.sql', 'stake_flows.sql'],
];

/** Every definition and comment in `reporting`, as text. @param name of objects of this name only */
async function readDefinitions(name: string | null = null): Promise<string[]> {
  const matches = (column: string) => sql`(${name}::text is null or ${sql(column)} = ${name})`;
  const rows = await sql<{ object: string }[]>`
    select format('%s %s %s', c.oid::regclass, pg_get_viewdef(c.oid), obj_description(c.oid, 'pg_class')) as object
    from pg_class c where c.relnamespace in ('reporting'::regnamespace, 'reporting_lists'::regnamespace, 'reporting_internal'::regnamespace) and ${matches('relname')}
    union all
    select format('%s.%s %s %s %s', attrelid::regclass, attnum, attname, atttypid::regtype, col_description(attrelid, attnum))
    from pg_attribute join pg_class c on c.oid = attrelid where c.relnamespace in ('reporting'::regnamespace, 'reporting_lists'::regnamespace, 'reporting_internal'::regnamespace) and ${matches('relname')}
    union all
    select format('%s %s', pg_get_functiondef(oid), obj_description(oid, 'pg_proc')) from pg_proc
    where pronamespace in ('reporting'::regnamespace, 'reporting_lists'::regnamespace, 'reporting_internal'::regnamespace) and ${matches('proname')}
    order by 1`;
  return rows.map(({ object }) => object);
}

it.for(files)(
  '$file adds hours to times, because a day of a session may have 23 or 25 of them',
  ({ file, text }) => {
    const body = text.replaceAll(/--.*$/gm, '');
    expect(/interval '\d+ (day|week|month|year)s?/.test(body)).toBe(DAYS_OF_UTC.includes(file));
  },
);

describe('declared objects', () => {
  it('are all objects in reporting, each once', async () => {
    const rows = await sql<{ name: string }[]>`
      select relname as name from pg_class where relnamespace in ('reporting'::regnamespace, 'reporting_lists'::regnamespace, 'reporting_internal'::regnamespace)
      union all select proname from pg_proc where pronamespace in ('reporting'::regnamespace, 'reporting_lists'::regnamespace, 'reporting_internal'::regnamespace) order by 1`;
    expect(declared.map(({ name }) => name).sort()).toEqual(rows.map(({ name }) => name).sort());
  });

  it('have the columns of PostgreSQL, with the same types', async () => {
    const types = new Map<number, string>();
    for (const { oid, name } of await sql<{ oid: number; name: string }[]>`
      select oid::int, format_type(oid, null) as name from pg_type`)
      types.set(oid, name);
    const fullTypeName = (type: string) => type.replace(/^timestamptz$/, 'timestamp with time zone');
    for (const object of declared) {
      if (object.kind === 'function' && object.value !== undefined) continue;
      const call =
        object.kind === 'function'
          ? `(${object.parameters.map(({ type }) => `null::${type}`).join(', ')})`
          : '';
      const { columns } = await sql.unsafe(`select * from ${qualifiedName(object)}${call} limit 0`);
      const actual = columns.map(({ name, type }) => `${object.name}.${name} ${types.get(type)}`);
      expect(object.columns.map(({ name, type }) => `${object.name}.${name} ${fullTypeName(type)}`)).toEqual(
        actual,
      );
    }
  });

  it('explain each of their columns', () => {
    const all = declared.flatMap(({ name, columns }) =>
      columns.map((column) => ({ object: name, ...column })),
    );
    expect(all.length).toBeGreaterThan(500);
    expect(all.filter(({ comment }) => comment.trim() === '')).toEqual([]);
  });

  it('follow their dependencies in the order of PostgreSQL', async () => {
    const order = inOrder(declared).map(({ name }) => name);
    const rows = await sql<{ name: string; reads: string }[]>`
      select distinct r.ev_class::regclass::text as name, d.refobjid::regclass::text as reads
      from pg_depend d join pg_rewrite r on d.classid = 'pg_rewrite'::regclass and r.oid = d.objid
      join pg_class c on d.refclassid = 'pg_class'::regclass and c.oid = d.refobjid
      where c.relnamespace in ('reporting'::regnamespace, 'reporting_lists'::regnamespace, 'reporting_internal'::regnamespace) and c.oid <> r.ev_class`;
    expect(rows.length).toBeGreaterThan(10);
    const bare = (name: string) => name.replace(/^reporting(_lists|_internal)?\./, '');
    for (const { name, reads } of rows)
      expect(order.indexOf(bare(reads)), `${name} reads ${reads}`).toBeLessThan(order.indexOf(bare(name)));
  });

  it('may not have circular dependencies', () => {
    const view = (name: string, body: string): Declared => ({
      kind: 'view',
      name,
      comment: name,
      columns: [],
      body,
    });
    expect(dependenciesOf(view('a', 'select 1 -- from reporting.b'))).toEqual([]);
    expect(() =>
      inOrder([
        view('a', 'table reporting.b'),
        view('b', 'table reporting.c'),
        view('c', 'table reporting.a'),
      ]),
    ).toThrow('a → b → c → a');
  });
});

describe('names of reporting', () => {
  const publicObjects = declared.filter(isPublic);
  /** Suffixes by kind of history; a list of objects in a column adds its name. */
  const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
    series: ['', '_history', '_as_of'],
    log: ['', '_history', '_as_of'],
    state: ['', '_history', '_changes', '_as_of'],
    sample: ['', '_daily'],
    ledger: ['', '_history', '_as_of'],
  };
  const scheme = recorded.flatMap(({ name, relation, history }) => [
    ...(SUFFIXES[history] ?? []).map((suffix) => relation + suffix),
    ...(relation === name ? [] : [name, `${name}_as_of`]),
  ]);
  const namesIn = (schema: string) =>
    publicObjects.filter((object) => (object.schema ?? 'reporting') === schema).map(({ name }) => name);

  it('follow from the datasets and their suffixes, but for 66', () => {
    const names = namesIn('reporting');
    expect(scheme.filter((name) => !names.includes(name))).toEqual([]);
    // At most 220 names for 41 datasets, 10 of them over all nodes. A further dataset adds at most four, and two
    // more if it is over all nodes.
    const overAllNodes = recorded.filter(({ name, relation }) => name !== relation).length;
    expect(names.length).toBeLessThanOrEqual(220 + 4 * (recorded.length - 41) + 2 * (overAllNodes - 10));
    expect(names.filter((name) => !scheme.includes(name)).length).toBeLessThanOrEqual(66);
  });

  it('of lists equal those of their columns', () => {
    const lists = recorded.flatMap(({ relation, columns }) =>
      columns.filter(({ element }) => element).map((column) => `${relation}_${column.name}`),
    );
    expect(namesIn('reporting_lists').sort()).toEqual(lists.sort());
  });

  it('of columns are the same in every history', () => {
    const histories = recorded.filter(({ history }) => ['series', 'log', 'state'].includes(history));
    for (const { relation } of histories) {
      const columnsOf = (name: string) =>
        declared.find((object) => object.name === name)?.columns.map((column) => column.name);
      expect(columnsOf(relation), relation).toEqual(expect.arrayContaining(['valid_from', 'run_id']));
      expect(columnsOf(`${relation}_history`), relation).toEqual(
        expect.arrayContaining(['valid_from', 'valid_to', 'ended_by', 'run_id']),
      );
    }
  });

  it('have comments that are sentences, also of parameters and columns', () => {
    const texts = publicObjects.flatMap((object) => [
      [object.name, object.comment] as const,
      ...[...object.columns, ...(object.kind === 'function' ? object.parameters : [])].map(
        (column) => [`${object.name}.${column.name}`, column.comment] as const,
      ),
    ]);
    expect(texts.filter(([, text]) => !/^[A-Z*"\d(-].*\.$|^[a-z]\w*[ ,;:(].*\.$/s.test(text))).toEqual([]);
  });
});

describe('the last release', () => {
  it('is contained: every object, parameter and column, with its type and its place', () => {
    expect(findIncompatibleChanges(lastRelease, releasedAs('this', declared))).toEqual([]);
  });

  const view = (columns: Record<string, string>) => ({
    version: '1',
    objects: { one: { kind: 'view' as const, columns } },
  });
  const f = (parameters: Record<string, string>, value?: string) => ({
    version: '1',
    objects: {
      one: { kind: 'function' as const, parameters, columns: {}, ...(value === undefined ? {} : { value }) },
    },
  });
  const before = view({ a: 'text', b: 'bigint' });

  it.each([
    ['with a new column at the end', before, view({ a: 'text', b: 'bigint', c: 'text' }), []],
    ['that is not declared', before, { version: '1', objects: {} }, ['one is no view any more']],
    ['that is of another kind', before, f({}), ['one is no view any more']],
    ['that lacks a column', before, view({ a: 'text' }), ['one: b bigint is not column 2 any more']],
    [
      'that has a column of another type',
      before,
      view({ a: 'jsonb', b: 'bigint' }),
      ['one: a text is not column 1 any more'],
    ],
    [
      'that has a new column between',
      before,
      view({ a: 'text', c: 'text', b: 'bigint' }),
      ['one: b bigint is not column 2 any more'],
    ],
    [
      'with another parameter',
      f({ at: 'date' }, 'text'),
      f({ at: 'date', more: 'text' }, 'text'),
      ['one(at date) text is one(at date, more text) text now'],
    ],
    ['that returns another value', f({}, 'text'), f({}, 'bigint'), ['one() text is one() bigint now']],
  ])('is compared: an object %s', (_, earlier, later, lost) => {
    expect(findIncompatibleChanges(earlier, later)).toEqual(lost);
  });

  it('defines the order of columns, with new ones at the end', () => {
    const names = Object.keys(lastRelease.objects.subnets?.columns ?? {});
    const now = ['new', ...names.toReversed(), 'newer'].map((name) => ({ name }));
    expect(sortAsReleased('subnets', now).map(({ name }) => name)).toEqual([...names, 'new', 'newer']);
    expect(sortAsReleased('never_released', now)).toEqual(now);
  });
});

describe('a file of sql/', () => {
  let all: string[];
  beforeAll(async () => {
    all = await readDefinitions();
  });

  it.each(files)(
    '$file has the name of its object, and psql creates from it what migrate creates',
    async ({ file, text }) => {
      const name = file.replace(/\.sql$/, '');
      expect(readSqlFile(file, text).name).toBe(name);
      const before = await readDefinitions(name);
      expect(before.length).toBeGreaterThan(0);
      expect(await writtenBy(text)).toEqual([name]);
      expect(await readDefinitions(name)).toEqual(before);
    },
  );

  it('changes no other object', async () => {
    expect(await readDefinitions()).toEqual(all);
  });

  /** Returns the names of the objects whose definitions or comments a text writes, changed or not. */
  async function writtenBy(text: string): Promise<string[]> {
    return sql.begin(async (own) => {
      await own.unsafe(text);
      const rows = await own<{ name: string }[]>`
        with written(class, oid) as (
          select 'pg_class'::regclass, ev_class from pg_rewrite where xmin = pg_current_xact_id()::xid
          union select 'pg_proc'::regclass, oid from pg_proc where xmin = pg_current_xact_id()::xid
          union select classoid, objoid from pg_description where xmin = pg_current_xact_id()::xid)
        select distinct coalesce(c.relname, p.proname)::text as name from written w
        left join pg_class c on w.class = 'pg_class'::regclass and c.oid = w.oid
        left join pg_proc p on w.class = 'pg_proc'::regclass and p.oid = w.oid`;
      return rows.map(({ name }) => name);
    });
  }

  const view = `create or replace view reporting.one as
select 1 as a;

comment on view reporting.one is 'It''s one.';
comment on column reporting.one.a is 'It.'; -- integer
`;

  it('is parsed into its parts', () => {
    expect(readSqlFile('one.sql', view)).toEqual({
      kind: 'view',
      name: 'one',
      comment: "It's one.",
      columns: [{ name: 'a', type: 'integer', comment: 'It.' }],
      body: 'select 1 as a',
    });
  });

  const f = `create or replace function reporting.two(
  "from" timestamptz, -- Begin.
  chain_ids text[] default null -- Which.
)
returns table (
  a integer -- It.
)
language sql stable parallel safe as $$
select 1
$$;

comment on function reporting.two is 'Two.';
`;

  it('of a function is parsed with its parameters', () => {
    expect(readSqlFile('two.sql', f)).toEqual({
      kind: 'function',
      name: 'two',
      comment: 'Two.',
      parameters: [
        { name: 'from', type: 'timestamptz', comment: 'Begin.' },
        { name: 'chain_ids', type: 'text[]', preset: 'null', comment: 'Which.' },
      ],
      columns: [{ name: 'a', type: 'integer', comment: 'It.' }],
      body: 'select 1',
    });
    expect(() => readSqlFile('two.sql', f.replace(' -- Begin.', ''))).toThrow(/expected a parameter of two/);
    expect(() => readSqlFile('two.sql', f.replace('stable', 'volatile'))).toThrow(/readSqlFile/);
  });

  it.each([
    ['drops something', view.replace('create', 'drop view reporting.two;\ncreate')],
    ['makes a materialised view', view.replace('or replace view', 'materialized view')],
    ['comments another object', view.replace('view reporting.one is', 'view reporting.two is')],
    ['comments a column of another object', view.replace('reporting.one.a', 'reporting.two.a')],
    ['says no type', view.replace(' -- integer', '')],
    ['does more behind the comments', `${view}drop view reporting.two;\n`],
  ])('that %s is refused', (_, text) => {
    expect(() => readSqlFile('one.sql', text)).toThrow(/^one\.sql: .*readSqlFile/);
  });
});

it('has buckets of response times with the same limits in SQL as in the recorder', async () => {
  const buckets = Array.from({ length: 256 }, (_, bucket) => bucket);
  const rows = await sql<{ latency_ms: number }[]>`
    select reporting_internal.latency_of_bucket(bucket)::float8 as latency_ms from unnest(${buckets}::int[]) bucket order by bucket`;
  expect(rows.map(({ latency_ms }) => latency_ms)).toEqual(
    buckets.map((bucket) => expect.closeTo(representativeMs(bucket), 2)),
  );
});

it('names the quantiles of response times like the histogram', () => {
  const latency = declared.find(({ name }) => name === 'node_latency');
  expect(latency?.comment).toContain(HIGHEST_ERROR_TEXT);
  expect(latency?.comment).toContain(`more than ${WEEKS_KEPT} weeks ago`);
  const spans = declared.find(({ name }) => name === 'node_latency_spans');
  expect(spans?.columns.find(({ name }) => name === 'span')?.comment).toContain(`${WEEKS_KEPT} weeks`);
});
