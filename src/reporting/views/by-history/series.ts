import type { Dataset } from '../../../datasets/contract.ts';
import { POINT_VALUES } from '../../../datasets/dataset.ts';
import { requestColumns, SERIES_ID, seriesTableOf } from '../../../datasets/target-columns.ts';
import type { Declared, DeclaredView } from '../../../db/declared.ts';
import { asOfFunction, tableView } from '../table-views.ts';
import {
  declareColumn,
  recorderColumn,
  runIdColumn,
  upstreamColumns,
  type ViewColumn,
} from '../view-columns.ts';

/** Returns the views of points: the current values, all values, and the two parts of the latter. */
export function seriesViews(dataset: Dataset): Declared[] {
  const { name, about } = dataset;
  const point = [
    ...upstreamColumns(dataset),
    recorderColumn(
      'recorded_at',
      'timestamptz',
      'Start of this value at the upstream, as far as it was observed.',
    ),
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
    recorderColumn(
      'superseded_at',
      'timestamptz',
      'When the upstream said another value, or none; null: it is current.',
    ),
    recorderColumn(
      'vanished',
      'boolean',
      'The upstream stopped showing the point and has not shown it again since.',
    ),
    runIdColumn,
  ];
  const part = (suffix: string, rows: string, where: string): DeclaredView => ({
    ...tableView(dataset, `${name}_${suffix}`, `${about} ${rows}`, revisions, where),
    internal: true,
  });
  return [
    ...(dataset.numbered ? [seriesView(dataset)] : []),
    tableView(
      dataset,
      name,
      `${about} The current value.`,
      [...point, vanishedAt, runIdColumn],
      POINT_VALUES.last,
    ),
    tableView(
      dataset,
      `${name}_history`,
      `${about} Every value it ever had.`,
      revisions,
      POINT_VALUES.last,
      POINT_VALUES.before,
    ),
    // PostgreSQL does not use the order of the branches of the view above. These views have one branch each.
    part('last', 'The last value known of every point.', POINT_VALUES.last),
    part('replaced', 'The values before the last one.', POINT_VALUES.before),
    asOfFunction(
      dataset,
      [...point, { ...vanishedAt, from: 'null::timestamptz' }, runIdColumn],
      {
        from: `reporting_internal.${name}_last`,
        // This form excludes the BRIN index of `recorded_at`. That index is not selective if rows are stored
        // in the order of the requests. PostgreSQL would combine it with the index of the key and scan whole
        // pages of other series.
        where: '(recorded_at <= at) is true and (superseded_at is null or superseded_at > at)',
      },
      { from: `reporting_internal.${name}_replaced`, where: 'recorded_at <= at and superseded_at > at' },
    ),
  ];
}

const seriesId = (dataset: Dataset): ViewColumn => ({
  ...recorderColumn(
    SERIES_ID,
    'integer',
    `The number of its series (reporting_internal.${seriesTableOf(dataset)}). Rows of one number are found in the order of time.`,
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
    internal: true,
    comment: `The series of ${dataset.name}, each with its number.`,
    columns: [
      {
        ...recorderColumn(SERIES_ID, 'integer', 'Its number. Another database may number it otherwise.'),
        notNull: true,
      },
      ...request.map((column) => ({ ...column, notNull: true })),
    ].map(declareColumn),
    body: `select ${[SERIES_ID, ...requestColumns(dataset)].join(', ')} from recorder.${name}`,
  };
}
