import { z } from 'zod';
import type { Dataset, DatasetColumn, History } from '../datasets/contract.ts';
import { columns as fieldColumns } from '../datasets/fields.ts';
import { snakeCase } from '../datasets/names.ts';
import { unwrap } from '../datasets/unwrap.ts';
import type { Declared, DeclaredColumn, DeclaredView } from '../db/declared.ts';
import { steady, steadyColumns } from '../history/saying.ts';
import { sameKey } from '../history/writing.ts';

/** A column of a view, with what it is computed from where that is not the column of the same name. */
interface ViewColumn extends DeclaredColumn {
  readonly from?: string;
}

/** A column that the recorder adds to those of the upstream. */
const added = (name: string, type: string, comment: string): ViewColumn => ({ name, type, comment });

const recordedBy = added('run_id', 'bigint', 'The run that recorded it (reporting.runs).');

/** Views and functions of one dataset, as its kind of history promises (contract section 3). */
export function datasetViews(dataset: Dataset): Declared[] {
  return [...byHistory[dataset.history](dataset), ...flattened(dataset)];
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
    ];
  },
  sample: (dataset) => [
    tableView(dataset, dataset.name, dataset.about, [
      ...upstreamColumns(dataset),
      added('observed_at', 'timestamptz', 'When the reading was taken.'),
      recordedBy,
    ]),
  ],
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
      tableView(dataset, `${name}_history`, `${about} Every version of every member.`, [...now, ...ended]),
      asOf(
        dataset,
        now,
        `reporting.${name}_history`,
        'valid_from <= at and (valid_to is null or valid_to > at)',
      ),
    ];
  },
  series: (dataset) => {
    const { name, about } = dataset;
    const point = [
      ...upstreamColumns(dataset),
      added('recorded_at', 'timestamptz', 'Since when the upstream says this value, as far as it was asked.'),
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
      tableView(
        dataset,
        name,
        `${about} The current value.`,
        [...point, vanishedAt, recordedBy],
        'superseded_at is null or vanished',
      ),
      tableView(dataset, `${name}_revisions`, `${about} Every value it ever had.`, revisions),
      asOf(
        dataset,
        [...point, { ...vanishedAt, from: 'null::timestamptz' }, recordedBy],
        `reporting.${name}_revisions`,
        'recorded_at <= at and (superseded_at is null or superseded_at > at)',
      ),
    ];
  },
  ledger: () => [], // sql/node_health.sql
};

/** What the upstream said differently about the same thing: all of it is kept, and shown side by side. */
function conflicts(dataset: Dataset, said: readonly ViewColumn[]): DeclaredView {
  const { name, single, key } = dataset;
  const table = `recorder.${name}`;
  const columns = [
    ...said,
    added('superseded_at', 'timestamptz', 'Until when it was shown; null: it still is.'),
    added(
      'differs',
      'text[]',
      'Of an earlier saying: the columns that are said differently now. Null: it is shown.',
    ),
    ...lastColumns(dataset),
  ];
  const differing = steadyColumns(dataset).map(
    (column) =>
      `case when ${steady(column, 's')} is distinct from ${steady(column, 'n')} then '${column.name}' end`,
  );
  const list = (differs: string) =>
    columns
      .map((column) => (column.name === 'differs' ? `${differs} as differs` : `s.${column.name}`))
      .join(', ');
  const revised = `exists (select from ${table} o where ${sameKey(dataset, 'o', 's')} and o.superseded_at is not null)`;
  const shown = (where: string) =>
    `select ${list('null::text[]')} from ${table} s where s.superseded_at is null and ${where}`;
  const body = [
    shown(revised),
    ...(single ? [shown(`${contradicted(dataset, single)} and not ${revised}`)] : []),
    `select ${list(`array_remove(array[${differing.join(', ')}]::text[], null)`)} from ${table} s
join ${table} n on ${sameKey(dataset, 'n', 's')} and n.superseded_at is null where s.superseded_at is not null`,
  ].join('\nunion all\n');
  const others = key.filter((part) => !single?.includes(part));
  const also = single
    ? `, and rows that contradict each other: the same ${single.join(', ')}, but not the same ${others.join(', ')}`
    : '';
  const comment = `What the upstream said differently of the same row of ${name}, old and new${also}.`;
  return { kind: 'view', name: `${name}_conflicts`, comment, columns: columns.map(declared), body };
}

/** Whether another row says something else of what the upstream should say one thing of. */
function contradicted({ name, key }: Dataset, single: readonly string[]): string {
  const others = key.filter((part) => !single.includes(part));
  const of = (row: string, columns: readonly string[]) =>
    `(${columns.map((column) => `${row}.${column}`).join(', ')})`;
  return `exists (select from recorder.${name} o
  where ${of('o', single)} = ${of('s', single)} and ${of('o', others)} <> ${of('s', others)} and o.superseded_at is null)`;
}

function upstreamColumns(dataset: Dataset): ViewColumn[] {
  const extra = added('extra', 'jsonb', 'Fields that the recorder does not know, as they came.');
  return [...dataset.columns.filter(isFirst), ...(dataset.extra === false ? [] : [extra])];
}

/** Columns that were declared after the views were: `create or replace view` takes new ones at the end only. */
const lastColumns = (dataset: Dataset): ViewColumn[] => dataset.columns.filter((column) => !isFirst(column));

const isFirst = ({ part }: DatasetColumn) => part !== 'raw';

function tableView(
  dataset: Dataset,
  name: string,
  about: string,
  first: readonly ViewColumn[],
  where = 'true',
): DeclaredView {
  const columns = [...first, ...lastColumns(dataset)];
  const list = columns
    .map((column) => (column.from ? `${column.from} as ${column.name}` : column.name))
    .join(', ');
  const body = `select ${list} from recorder.${dataset.name} where ${where}`;
  return { kind: 'view', name, comment: about, columns: columns.map(declared), body };
}

const declared = ({ name, type, comment }: ViewColumn): DeclaredColumn => ({ name, type, comment });

function asOf(dataset: Dataset, first: readonly ViewColumn[], from: string, where: string): Declared {
  const { name } = dataset;
  const columns = [...first, ...lastColumns(dataset)];
  const list = columns.map((column) => column.from ?? column.name).join(', ');
  return {
    kind: 'function',
    name: `${name}_as_of`,
    comment: `${name} as the recorder knew it at a past moment.`,
    parameters: [{ name: 'at', type: 'timestamptz', comment: 'The moment.' }],
    rowsOf: name,
    columns: columns.map(declared),
    body: `select ${list} from ${from} where ${where}`,
  };
}

/** One view a list column: a row an element, with the natural key, its place in the list, and its fields. */
function flattened(dataset: Dataset): Declared[] {
  return dataset.columns.flatMap((column) =>
    column.element ? [flattenedView(dataset, column, column.element)] : [],
  );
}

function flattenedView(dataset: Dataset, column: DatasetColumn, element: z.ZodType): DeclaredView {
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
  const columns = [
    ...key,
    { name: 'position', type: 'bigint', from: 'e.position', comment: 'Place in the list, from 1.' },
    ...fields,
  ];
  const list = columns.map(({ name: as, from }) => `${from} as ${as}`).join(', ');
  const body = `select ${list} from reporting.${dataset.name} d
        cross join lateral jsonb_array_elements(case jsonb_typeof(d.${column.name}) when 'array' then d.${column.name} end)
          with ordinality as e(value, position)`;
  const comment = `The elements of ${dataset.name}.${column.name}, one a row.`;
  return { kind: 'view', name, comment, columns: columns.map(declared), body };
}

function elementColumns(element: z.ZodObject, outer: readonly string[]): (ViewColumn & { from: string })[] {
  return Object.entries(element.shape).flatMap(([field, member]) => {
    const { inner } = unwrap(member);
    const path = [...outer, field];
    if (inner instanceof z.ZodObject) return elementColumns(inner, path);
    const known = typeof inner === 'object' && inner !== null ? fieldColumns.get(inner)?.type : undefined;
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
