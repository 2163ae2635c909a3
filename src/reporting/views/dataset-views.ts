import { z } from 'zod';
import type { Dataset, DatasetColumn, History } from '../../datasets/contract.ts';
import { hasElementsSql } from '../../datasets/dataset.ts';
import { columnOf } from '../../datasets/fields.ts';
import { snakeCase } from '../../datasets/names.ts';
import { unwrap } from '../../datasets/unwrap.ts';
import type { Declared } from '../../db/declared.ts';
import { everyNodeRule } from '../../recording/histories/contradictions.ts';
import { logViews } from './by-history/log.ts';
import { sampleViews } from './by-history/sample.ts';
import { seriesViews } from './by-history/series.ts';
import { stateViews } from './by-history/state.ts';
import { disagreementsView, networkView } from './network-view.ts';
import { sortAsReleased } from './released-columns.ts';
import { asOfMoment } from './table-views.ts';
import { declareColumn, type ViewColumn } from './view-columns.ts';

const byHistory: Readonly<Record<History, (dataset: Dataset) => Declared[]>> = {
  log: logViews,
  sample: sampleViews,
  state: stateViews,
  series: seriesViews,
};

/**
 * Returns the views and functions of one dataset, as defined for its kind of history.
 */
export function datasetViews(dataset: Dataset): Declared[] {
  return [...byHistory[dataset.history](dataset), ...networkViews(dataset), ...elementViews(dataset)];
}

function networkViews(dataset: Dataset): Declared[] {
  if (!dataset.everyNode) return [];
  const network = networkView(dataset, dataset.everyNode);
  const telling = everyNodeRule(dataset);
  return telling ? [network, disagreementsView(telling, network)] : [network];
}

/**
 * Returns one view per list column, now and as of a moment. Each element is a row with the natural key, its
 * position in the list, and its fields.
 */
function elementViews(dataset: Dataset): Declared[] {
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
  const columns = sortAsReleased(name, [
    ...key,
    { name: 'position', type: 'bigint', from: 'e.position', comment: 'Place in the list, from 1.' },
    ...fields,
  ]);
  const list = columns.map(({ name: as, from }) => `${from} as ${as}`).join(', ');
  const elementsOf = (rows: string) => `select ${list} from ${rows} d
        cross join lateral jsonb_array_elements(case jsonb_typeof(d.${column.name}) when 'array' then d.${column.name} end)
          with ordinality as e(value, position)
        where ${hasElementsSql(column.name, 'd')}`;
  const comment = `The elements of ${dataset.name}.${column.name}, one a row.`;
  const shown = columns.map(declareColumn);
  return [
    { kind: 'view', name, comment, columns: shown, body: elementsOf(`reporting.${dataset.name}`) },
    {
      ...asOfMoment(name, shown),
      internal: true,
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

/**
 * Returns SQL of a field of an element. Lists are stored unchanged, so an element that is no number results
 * in null instead of an error of the view.
 */
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
