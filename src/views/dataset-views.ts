import { z } from 'zod';
import type { Dataset, DatasetColumn, History } from '../datasets/contract.ts';
import { fills, POINT_VALUES } from '../datasets/dataset.ts';
import { columnOf } from '../datasets/fields.ts';
import { snakeCase } from '../datasets/names.ts';
import { requestOf, rowsOf, SERIES_ID, seriesTableOf } from '../datasets/standing.ts';
import { unwrap } from '../datasets/unwrap.ts';
import type { Declared, DeclaredColumn, DeclaredView } from '../db/declared.ts';
import { canContradict, contradicted, perhapsContradicted, type Telling } from '../history/contradictions.ts';
import { dailyOf } from '../history/readings/daily.ts';
import { allReadings } from '../history/readings/forms.ts';
import { numbersOf, packingOf } from '../history/readings/packing.ts';
import { steady, steadyColumns } from '../history/saying.ts';
import { sameKey } from '../history/writing.ts';
import { networkView } from './network-view.ts';
import { asReleased } from './released.ts';

/** A column of a view, with what it is computed from where that is not the column of the same name. */
interface ViewColumn extends DeclaredColumn {
  readonly from?: string;
}

/** A column that the recorder adds to those of the upstream. */
const added = (name: string, type: string, comment: string): ViewColumn => ({ name, type, comment });

const recordedBy = added('run_id', 'bigint', 'The run that recorded it (reporting.runs).');

/** Views and functions of one dataset, as its kind of history promises (contract section 3). */
export function datasetViews(dataset: Dataset): Declared[] {
  const { everyNode } = dataset;
  return [
    ...byHistory[dataset.history](dataset),
    ...(everyNode ? [networkView(dataset, everyNode)] : []),
    ...flattened(dataset),
  ];
}

const byHistory: Readonly<Record<History, (dataset: Dataset) => Declared[]>> = {
  log: (dataset) => {
    const said = [
      ...upstreamColumns(dataset),
      added('recorded_at', 'timestamptz', 'When it was recorded.'),
      recordedBy,
    ];
    return [
      tableView(dataset, dataset.name, dataset.about, said, 'superseded_at is null'),
      conflicts(dataset, said),
      asOf(
        dataset,
        said,
        { from: `reporting.${dataset.name}`, where: 'recorded_at <= at' },
        // What is shown differently now.
        {
          from: `reporting.${dataset.name}_conflicts`,
          where: 'recorded_at <= at and superseded_at > at and differs is not null',
        },
      ),
    ];
  },
  sample: (dataset) => {
    const read = [
      ...upstreamColumns(dataset),
      added('observed_at', 'timestamptz', 'When the reading was taken.'),
      recordedBy,
    ];
    return [readingsView(dataset, read), readingsAsOf(dataset, read), ...daily(dataset)];
  },
  state: (dataset) => {
    const { name, about } = dataset;
    const now = [
      ...upstreamColumns(dataset),
      added('valid_from', 'timestamptz', 'Since when it is so, as far as it was observed.'),
      recordedBy,
    ];
    const ended = [
      added('valid_to', 'timestamptz', 'Until when it was so; null: still so.'),
      added(
        'ended_by',
        'text',
        'Why it ended: changed (a newer version took over), gone (a whole list did not show it any more), unwatched (nobody asks for its target any more). Null: still so.',
      ),
    ];
    return [
      tableView(dataset, name, `${about} As it is now.`, now, 'valid_to is null'),
      tableView(
        dataset,
        `${name}_history`,
        `${about} Every version of every member.`,
        [...now, ...ended],
        'true',
      ),
      asOf(dataset, now, {
        from: `reporting.${name}_history`,
        where: 'valid_from <= at and (valid_to is null or valid_to > at)',
      }),
      changes(dataset),
    ];
  },
  series: (dataset) => {
    const { name, about } = dataset;
    const point = [
      ...upstreamColumns(dataset),
      added('recorded_at', 'timestamptz', 'Since when the upstream says this value, as far as it was asked.'),
      ...(dataset.numbered ? [seriesId(dataset)] : []),
    ];
    const vanishedAt = {
      name: 'vanished_at',
      type: 'timestamptz',
      from: 'case when vanished then superseded_at end',
      comment:
        'When the upstream no longer showed this point; the value is the last one known. Null: it still does.',
    };
    const revisions = [
      ...point,
      added(
        'superseded_at',
        'timestamptz',
        'When the upstream said another value, or none; null: it is current.',
      ),
      added(
        'vanished',
        'boolean',
        'The upstream stopped showing the point and has not shown it again since.',
      ),
      recordedBy,
    ];
    return [
      ...(dataset.numbered ? [seriesView(dataset)] : []),
      tableView(
        dataset,
        name,
        `${about} The current value.`,
        [...point, vanishedAt, recordedBy],
        POINT_VALUES.last,
      ),
      tableView(
        dataset,
        `${name}_revisions`,
        `${about} Every value it ever had.`,
        revisions,
        POINT_VALUES.last,
        POINT_VALUES.before,
      ),
      // PostgreSQL looks for no order in the branches of the view above. These have one branch each.
      tableView(
        dataset,
        `${name}_last`,
        `${about} The last value known of every point.`,
        revisions,
        POINT_VALUES.last,
      ),
      tableView(
        dataset,
        `${name}_replaced`,
        `${about} The values before the last one.`,
        revisions,
        POINT_VALUES.before,
      ),
      asOf(
        dataset,
        [...point, { ...vanishedAt, from: 'null::timestamptz' }, recordedBy],
        {
          from: `reporting.${name}_last`,
          // In this form the BRIN of `recorded_at` is left out: it tells little of what came about as it was asked for, and is read
          // together with the index of the key, so that PostgreSQL looks through whole pages of other series.
          where: '(recorded_at <= at) is true and (superseded_at is null or superseded_at > at)',
        },
        { from: `reporting.${name}_replaced`, where: 'recorded_at <= at and superseded_at > at' },
      ),
    ];
  },
};

const seriesId = (dataset: Dataset): ViewColumn => ({
  ...added(
    SERIES_ID,
    'integer',
    `The number of its series (reporting.${seriesTableOf(dataset)}). Rows of one number are found in the order of time.`,
  ),
  notNull: true,
});

/** What the numbers of series stand for. */
function seriesView(dataset: Dataset): DeclaredView {
  const name = seriesTableOf(dataset);
  const request = dataset.columns.filter(({ path }) => path.length === 0);
  return {
    kind: 'view',
    name,
    comment: `The series of ${dataset.name}, each with its number.`,
    columns: [
      {
        ...added(SERIES_ID, 'integer', 'Its number. Another database may number it otherwise.'),
        notNull: true,
      },
      ...request.map((column) => ({ ...column, notNull: true })),
    ].map(declared),
    body: `select ${[SERIES_ID, ...requestOf(dataset)].join(', ')} from recorder.${name}`,
  };
}

/** What happened in a list, one row a change. */
function changes(dataset: Dataset): DeclaredView {
  const { name, key } = dataset;
  const table = `recorder.${name}`;
  const types = new Map(dataset.columns.map((column) => [column.name, column.type]));
  const keyColumns = key.map((column) => added(column, types.get(column) ?? 'text', 'Key of the member.'));
  const extra = dataset.extra === false ? [] : ['extra'];
  const told = [...dataset.columns.map((column) => column.name), ...extra].filter(
    (one) => !key.includes(one),
  );
  const of = (row: string) => told.map((column) => `${row}.${column}`).join(', ');
  const rowOf = (row: string) => `row(${of(row)})`;
  const content = (row: string) => `(select to_jsonb(c) from (select ${of(row)}) as c)`;
  const same = (other: string) => sameKey(dataset, other, 'v');
  const keyOf = (row: string) => key.map((column) => `${row}.${column}`).join(', ');
  return {
    kind: 'view',
    name: `${name}_changes`,
    comment: `Who came, changed and went in ${name}, and when that was seen. That a target is no longer watched is no change; one that is watched again goes on from where it was.`,
    columns: [
      added('at', 'timestamptz', 'When the change was seen.'),
      added('change', 'text', 'joined, changed, or left (a whole list did not show it any more).'),
      ...keyColumns,
      added('before', 'jsonb', 'The member without its key before the change; null: it joined.'),
      added('after', 'jsonb', 'The member without its key after the change; null: it left.'),
      added(
        'first_look',
        'boolean',
        'It was there when the list was looked at for the first time: it joined at some moment before.',
      ),
    ],
    // One branch a change, so that a question about one kind reads no other; equal instants, so that they can be joined by hash.
    body: `select v.valid_from as at, 'joined' as change, ${keyOf('v')}, null::jsonb as before, ${content('v')} as after,
  coalesce(r.started_at <= d.first_success_at, false) as first_look
from ${table} v
left join recorder.runs r on r.run_id = v.run_id
left join recorder.target_datasets d on (d.source, d.target_key, d.dataset) = (r.source, r.target_key, '${name}')
where v.valid_from >= coalesce((select k.kept_since from recorder.retention k where k.dataset = '${name}'), '-infinity')
  and not exists (
    select from ${table} o
    where ${same('o')} and o.valid_to = v.valid_from and o.ended_by = 'changed')
  and not exists (
    select from ${table} o
    where ${same('o')} and o.valid_to <= v.valid_from and o.ended_by = 'unwatched' and not exists (
      select from ${table} m where ${same('m')} and m.valid_from > o.valid_from and m.valid_from < v.valid_from))
union all
select v.valid_from, 'changed', ${keyOf('v')}, ${content('o')}, ${content('v')}, false
from ${table} o
join ${table} v on ${same('o')} and v.valid_from = o.valid_to
where o.ended_by = 'changed'
union all
select v.valid_from, 'changed', ${keyOf('v')}, ${content('o')}, ${content('v')}, false
from ${table} o
cross join lateral (
  select * from ${table} v where ${same('o')} and v.valid_from >= o.valid_to order by v.valid_from limit 1) v
where o.ended_by = 'unwatched' and ${rowOf('o')} is distinct from ${rowOf('v')}
union all
select v.valid_to, 'left', ${keyOf('v')}, ${content('v')}, null, false
from ${table} v
where v.ended_by = 'gone'`,
  };
}

/** What the upstream said differently about the same thing: all of it is kept, and shown side by side. */
function conflicts(dataset: Dataset, said: readonly ViewColumn[]): DeclaredView {
  const { name, single, key } = dataset;
  const table = `recorder.${name}`;
  const view = `${name}_conflicts`;
  const columns = asReleased(view, [
    ...said,
    added('superseded_at', 'timestamptz', 'Until when it was shown; null: it still is.'),
    added(
      'differs',
      'text[]',
      'Of an earlier saying: the columns that are said differently now. Null: it is shown.',
    ),
  ]);
  const differing = steadyColumns(dataset).map(
    (column) =>
      `case when ${steady(column, 's')} is distinct from ${steady(column, 'n')} then '${column.name}' end`,
  );
  const list = (differs: string) =>
    columns
      .map((column) => (column.name === 'differs' ? `${differs} as differs` : `s.${column.name}`))
      .join(', ');
  const revised = `exists (select from ${table} o where ${sameKey(dataset, 'o', 's')} and o.superseded_at is not null)`;
  const shown = (from: string, where: string) =>
    `select ${list('null::text[]')} from ${from} s where s.superseded_at is null and ${where}`;
  const body = [
    shown(table, revised),
    ...(canContradict(dataset)
      ? [shown(besideOthers(dataset), `${contradicted(dataset)} and not ${revised}`)]
      : []),
    `select ${list(`array_remove(array[${differing.join(', ')}]::text[], null)`)} from ${table} s
join ${table} n on ${sameKey(dataset, 'n', 's')} and n.superseded_at is null where s.superseded_at is not null`,
  ].join('\nunion all\n');
  const others = key.filter((part) => !single?.includes(part));
  const also = single
    ? `, and rows that contradict each other: the same ${single.join(', ')}, but not the same ${others.join(', ')}`
    : '';
  const comment = `What the upstream said differently of the same row of ${name}, old and new${also}.`;
  return { kind: 'view', name: view, comment, columns: columns.map(declared), body };
}

/** SQL: the rows of which others may say something else. `offset 0` makes PostgreSQL look each thing up, and not read all rows. */
function besideOthers(dataset: Telling): string {
  const { name, single } = dataset;
  return `(${perhapsContradicted(dataset)}) c
cross join lateral (
  select * from recorder.${name} r where ${single.map((column) => `r.${column} = c.${column}`).join(' and ')} and r.superseded_at is null offset 0)`;
}

function upstreamColumns(dataset: Dataset): ViewColumn[] {
  const extra = added('extra', 'jsonb', 'Fields that the recorder does not know, as they came.');
  const columns = dataset.columns.map((column) => ({ ...column, notNull: !column.nullable }));
  return [...columns, ...(dataset.extra === false ? [] : [extra])];
}

/** @param parts which rows it has: those of each condition */
function tableView(
  dataset: Dataset,
  name: string,
  about: string,
  selected: readonly ViewColumn[],
  ...parts: readonly string[]
): DeclaredView {
  const columns = asReleased(name, selected);
  const list = columns
    .map((column) => (column.from ? `${column.from} as ${column.name}` : column.name))
    .join(', ');
  const body = parts
    .map((where) => `select ${list} from ${rowsOf(dataset)} r where ${where}`)
    .join('\nunion all\n');
  return { kind: 'view', name, comment: about, columns: columns.map(declared), body };
}

/** Readings, in whatever form they stand. */
function readingsView(dataset: Dataset, selected: readonly ViewColumn[]): DeclaredView {
  const { name, about } = dataset;
  const columns = asReleased(name, selected);
  const packing = packingOf(dataset);
  const names = columns.map((column) => [column.name, column.type] as const);
  const body = allReadings(packing, names);
  return { kind: 'view', name, comment: about, columns: columns.map(declared), body };
}

/** Columns that the recorder fills in every row. */
const ALWAYS: ReadonlySet<string> = new Set(['run_id', 'recorded_at', 'observed_at', 'valid_from']);

const declared = ({ name, type, comment, notNull }: ViewColumn): DeclaredColumn => ({
  name,
  type,
  comment,
  ...(notNull || ALWAYS.has(name) ? { notNull: true } : {}),
});

/** The function that returns the rows of a view as of a moment, without its comment and its query. */
const asOfMoment = (view: string, columns: readonly DeclaredColumn[]) => ({
  kind: 'function' as const,
  name: `${view}_as_of`,
  parameters: [{ name: 'at', type: 'timestamptz', comment: 'The moment.' }],
  rowsOf: view,
  columns,
});

/** @param parts where its rows are, and which of them */
function asOf(
  dataset: Dataset,
  selected: readonly ViewColumn[],
  ...parts: readonly { readonly from: string; readonly where: string }[]
): Declared {
  const { name } = dataset;
  // It returns rows of the view.
  const columns = asReleased(name, selected);
  const list = columns.map((column) => column.from ?? column.name).join(', ');
  return {
    ...asOfMoment(name, columns.map(declared)),
    comment: `What ${name} held at a past moment, by what had been seen until then. A moment before the first recording is an error.`,
    body: parts
      .map(
        ({ from, where }) =>
          `select ${list} from ${from} where ${where} and reporting.has_record('${name}', at)`,
      )
      .join('\nunion all\n'),
  };
}

/** The averages of readings by day, where there are numbers. */
function daily(dataset: Dataset): Declared[] {
  const packing = packingOf(dataset);
  const numbers = numbersOf(packing);
  if (numbers.length === 0) return [];
  const name = `${dataset.name}_daily`;
  const things = [...packing.request, ...packing.words];
  const columns = [
    ...things.map((column) => added(column.name, column.type, column.comment)),
    added('day', 'date', 'The day (UTC).'),
    ...numbers.flatMap(({ column }) => [
      added(`${column.name}_readings`, 'bigint', `How many readings of ${column.name} there are.`),
      added(`${column.name}_average`, 'numeric', `Their average, to twelve decimals; null: there is none.`),
    ]),
  ];
  return [
    {
      kind: 'view',
      name,
      comment: `${dataset.about} The average of each day: every reading counts the same, however long it stood.`,
      columns: columns.map(declared),
      body: dailyOf(packing, things),
    },
  ];
}

/**
 * The readings up to a moment. Whether there was a record is a branch of its own, which is always asked: PostgreSQL does not ask for
 * it beside a join that finds nothing. The offset keeps it from seeing that the branch has no rows.
 */
function readingsAsOf(dataset: Dataset, selected: readonly ViewColumn[]): Declared {
  const { name } = dataset;
  const columns = asReleased(name, selected);
  return {
    ...asOf(dataset, selected),
    body: `select * from (
  select ${columns.map((column) => `null::${column.type} as ${column.name}`).join(', ')} where not reporting.has_record('${name}', at) offset 0
) without_record
union all
select ${columns.map((column) => column.name).join(', ')} from reporting.${name} where observed_at <= at`,
  };
}

/**
 * One view a list column, now and as of a moment: a row an element, with the natural key, its place in the list, and its
 * fields.
 */
function flattened(dataset: Dataset): Declared[] {
  return dataset.columns.flatMap((column) =>
    column.element ? flattenedList(dataset, column, column.element) : [],
  );
}

function flattenedList(dataset: Dataset, column: DatasetColumn, element: z.ZodType): Declared[] {
  const name = `${dataset.name}_${column.name}`;
  const typeOf = new Map(dataset.columns.map((one) => [one.name, one.type]));
  const key = dataset.key.map((one) => ({
    name: one,
    type: typeOf.get(one) ?? 'text',
    from: `d.${one}`,
    comment: 'Key of the row that holds the list.',
  }));
  const taken = new Set([...dataset.key, 'position']);
  const fields = (
    element instanceof z.ZodObject
      ? elementColumns(element, [])
      : [{ name: 'value', type: 'text', from: `e.value #>> '{}'`, comment: 'The element.' }]
  ).map((field) => (taken.has(field.name) ? { ...field, name: `element_${field.name}` } : field));
  const columns = asReleased(name, [
    ...key,
    { name: 'position', type: 'bigint', from: 'e.position', comment: 'Place in the list, from 1.' },
    ...fields,
  ]);
  const list = columns.map(({ name: as, from }) => `${from} as ${as}`).join(', ');
  const elementsOf = (rows: string) => `select ${list} from ${rows} d
        cross join lateral jsonb_array_elements(case jsonb_typeof(d.${column.name}) when 'array' then d.${column.name} end)
          with ordinality as e(value, position)
        where ${fills(column.name, 'd')}`;
  const comment = `The elements of ${dataset.name}.${column.name}, one a row.`;
  const shown = columns.map(declared);
  return [
    { kind: 'view', name, comment, columns: shown, body: elementsOf(`reporting.${dataset.name}`) },
    {
      ...asOfMoment(name, shown),
      comment: `The elements of ${dataset.name}.${column.name} as they were known at a past moment. A moment before the first recording is an error.`,
      body: elementsOf(`reporting.${dataset.name}_as_of(at)`),
    },
  ];
}

function elementColumns(element: z.ZodObject, outer: readonly string[]): (ViewColumn & { from: string })[] {
  return Object.entries(element.shape).flatMap(([field, member]) => {
    const { inner } = unwrap(member);
    const path = [...outer, field];
    if (inner instanceof z.ZodObject) return elementColumns(inner, path);
    const known = columnOf(inner)?.type;
    return [
      {
        name: path.map(snakeCase).join('_'),
        type: known ?? 'text',
        from: elementValue(path, known ?? 'text'),
        comment: `Upstream field ${path.join('.')} of an element.`,
      },
    ];
  });
}

/** Lists are kept as they came: an element that is no number gives null instead of breaking the view. */
function elementValue(path: readonly string[], type: string): string {
  const text = `e.value #>> '{${path.join(',')}}'`;
  const where = (pattern: string, value: string) => `case when ${text} ~ '${pattern}' then ${value} end`;
  switch (type) {
    case 'text':
      return text;
    case 'jsonb':
      return `e.value #> '{${path.join(',')}}'`;
    case 'timestamptz':
      return where('^\\d{1,12}$', `to_timestamp((${text})::double precision)`);
    case 'bigint':
      return where('^\\d{1,18}$', `(${text})::bigint`);
    case 'boolean':
      return where('^(true|false)$', `(${text})::boolean`);
    default:
      return where('^-?\\d+(\\.\\d+)?([eE][+-]?\\d{1,3})?$', `(${text})::${type}`);
  }
}
