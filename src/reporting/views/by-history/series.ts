import type { Dataset } from '../../../datasets/contract.ts';
import { POINT_VALUES } from '../../../datasets/dataset.ts';
import {
  requestColumns,
  SERIES_ID,
  seriesTableOf,
  tableKeyColumns,
} from '../../../datasets/target-columns.ts';
import type { Declared, DeclaredView } from '../../../db/declared.ts';
import { asOfFunction, historyViews, LAST, REPLACED, tableView } from '../table-views.ts';
import {
  computedVersionId,
  declareColumn,
  endedByColumn,
  recorderColumn,
  runIdColumn,
  upstreamColumns,
  type ViewColumn,
  validFromColumn,
  validToColumn,
  versionIdColumn,
} from '../view-columns.ts';

/**
 * Returns the views of points (the series, the current values, all values, and the two parts of all values),
 * and the function with the values at a past moment.
 */
export function seriesViews(dataset: Dataset): Declared[] {
  const { name, about } = dataset;
  const pointWith = (versionId: ViewColumn) => [
    ...upstreamColumns(dataset),
    versionId,
    validFromColumn,
    ...(dataset.numbered ? [seriesId(dataset)] : []),
  ];
  const point = pointWith(computedVersionId(dataset));
  const vanished = recorderColumn(
    'vanished',
    'boolean',
    'True if the upstream stopped reporting the point and has not reported it again since.',
  );
  const versions = [...point, validToColumn, endedByColumn, vanished, runIdColumn];
  return [
    ...(dataset.numbered ? [seriesView(dataset)] : []),
    tableView(
      dataset,
      name,
      `${about} The current value. A point that the upstream stopped reporting is only in ${name}_history.`,
      [...point, runIdColumn],
      { where: 'valid_to is null' },
    ),
    ...historyViews(
      dataset,
      versions,
      { where: POINT_VALUES.last, columns: { ended_by: `case when vanished then 'gone' end` } },
      { where: POINT_VALUES.before, columns: { ended_by: replacedBySql(dataset) } },
    ),
    asOfFunction(
      dataset,
      [...pointWith(versionIdColumn), runIdColumn],
      {
        from: `reporting_internal.${name}_${LAST}`,
        // This form excludes the BRIN index of `valid_from`. That index is not selective if rows are stored
        // in the order of the requests. PostgreSQL would combine it with the index of the key and scan whole
        // pages of other series.
        where: '(valid_from <= at) is true and (valid_to is null or valid_to > at)',
      },
      { from: `reporting_internal.${name}_${REPLACED}`, where: 'valid_from <= at and valid_to > at' },
    ),
  ];
}

/**
 * Returns SQL of the reason why a version `r` with a successor ended: `changed` if the next version starts at
 * the end of `r`. Otherwise `gone`, because the point was missing between the two versions. Each part of the
 * versions has its own index, so each part is queried separately.
 */
function replacedBySql(dataset: Dataset): string {
  const same = tableKeyColumns(dataset).map((column) => `v.${column} = r.${column}`);
  const next = (part: string) =>
    `(select 'changed' from recorder.${dataset.name} v where ${[...same, 'v.valid_from = r.valid_to', `(${part})`].join(' and ')} limit 1)`;
  return `coalesce(${next(POINT_VALUES.last)}, ${next(POINT_VALUES.before)}, 'gone')`;
}

const seriesId = (dataset: Dataset): ViewColumn => ({
  ...recorderColumn(
    SERIES_ID,
    'integer',
    `The number of the series (reporting_internal.${seriesTableOf(dataset)}). An index finds the rows of a series in the order of time.`,
  ),
  notNull: true,
});

/** Returns the view of the series and their numbers. */
function seriesView(dataset: Dataset): DeclaredView {
  const name = seriesTableOf(dataset);
  const request = dataset.columns.filter(({ path }) => path.length === 0);
  return {
    kind: 'view',
    name,
    schema: 'reporting_internal',
    comment: `The series of ${dataset.name}, each with its number.`,
    columns: [
      {
        ...recorderColumn(
          SERIES_ID,
          'integer',
          'The number of the series. Another database may use other numbers.',
        ),
        notNull: true,
      },
      ...request.map((column) => ({ ...column, notNull: true })),
    ].map(declareColumn),
    body: `select ${[SERIES_ID, ...requestColumns(dataset)].join(', ')} from recorder.${name}`,
  };
}
