import { z } from 'zod';
import type { Dataset, DatasetColumn, History } from '../../datasets/contract.ts';
import { hasElementsSql } from '../../datasets/dataset.ts';
import { columnOf } from '../../datasets/fields.ts';
import { snakeCase } from '../../datasets/names.ts';
import { unwrap } from '../../datasets/unwrap.ts';
import type { Declared, DeclaredView } from '../../db/declared.ts';
import { everyNodeRule, singleRowRule } from '../../recording/histories/contradictions.ts';
import { logViews } from './by-history/log.ts';
import { sampleViews } from './by-history/sample.ts';
import { seriesViews } from './by-history/series.ts';
import { stateViews } from './by-history/state.ts';
import { contradictionsView } from './disagreements.ts';
import { disagreementsView, mergedViews } from './merged-views.ts';
import { sortAsReleased } from './released-columns.ts';
import {
  declareColumn,
  type ViewColumn,
  validFromColumn,
  validToColumn,
  versionIdColumn,
} from './view-columns.ts';

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
  const single = singleRowRule(dataset);
  return [
    ...byHistory[dataset.history](dataset),
    ...mergedViewsOf(dataset),
    ...elementViews(dataset),
    ...(single ? [contradictionsView(single)] : []),
  ];
}

function mergedViewsOf(dataset: Dataset): Declared[] {
  if (!dataset.everyNode) return [];
  const [now, then] = mergedViews(dataset, dataset.everyNode);
  const contradictionRule = everyNodeRule(dataset);
  return contradictionRule ? [now, then, disagreementsView(contradictionRule, now)] : [now, then];
}

/**
 * Returns one view per list column, with the elements of every version. Each element is a row with the
 * natural key and the surrogate key of its version, its position in the list, and its fields.
 */
function elementViews(dataset: Dataset): DeclaredView[] {
  return dataset.columns.flatMap((column) =>
    column.element ? [flattenedList(dataset, column, column.element)] : [],
  );
}

function flattenedList(dataset: Dataset, column: DatasetColumn, element: z.ZodType): DeclaredView {
  const name = `${dataset.relation}_${column.name}`;
  const typeOf = new Map(dataset.columns.map((one) => [one.name, one.type]));
  const key = dataset.key.map((one) => ({
    name: one,
    type: typeOf.get(one) ?? 'text',
    from: `d.${one}`,
    comment: 'Key of the row that contains the list.',
  }));
  const version = [
    { ...versionIdColumn, comment: 'The version that contains the list.' },
    validFromColumn,
    validToColumn,
  ].map((one) => ({ ...one, from: `d.${one.name}` }));
  const usedNames = new Set([...dataset.key, 'position', ...version.map((one) => one.name)]);
  const fields = (
    element instanceof z.ZodObject
      ? elementColumns(element, [])
      : [{ name: 'value', type: 'text', from: `e.value #>> '{}'`, comment: 'Value of the element.' }]
  ).map((field) => (usedNames.has(field.name) ? { ...field, name: `element_${field.name}` } : field));
  const columns = sortAsReleased(name, [
    ...key,
    ...version,
    { name: 'position', type: 'bigint', from: 'e.position', comment: 'Position in the list, from 1.' },
    ...fields,
  ]);
  const list = columns.map(({ name: as, from }) => `${from} as ${as}`).join(', ');
  const { relation } = dataset;
  return {
    kind: 'view',
    name,
    schema: 'reporting_lists',
    comment: `The elements of ${column.name} of every version of ${relation}, one per row. In elements of current versions, valid_to is null. For the elements at a moment, join reporting.${relation}_as_of(moment) using (version_id).`,
    columns: columns.map(declareColumn),
    body: `select ${list} from reporting.${relation}_history d
        cross join lateral jsonb_array_elements(case jsonb_typeof(d.${column.name}) when 'array' then d.${column.name} end)
          with ordinality as e(value, position)
        where ${hasElementsSql(column.name, 'd')}`,
  };
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
 * Returns SQL of a field of an element. Lists are stored as received. A value that does not have the type of
 * its column becomes null, so that the view does not raise an error.
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
