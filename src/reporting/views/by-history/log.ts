import type { Dataset } from '../../../datasets/contract.ts';
import type { Declared, DeclaredView } from '../../../db/declared.ts';
import { sameKeySql } from '../../../recording/histories/batch.ts';
import { comparedColumns, comparedValueSql } from '../../../recording/histories/change-recording.ts';
import {
  type ContradictionRule,
  contradictedSql,
  possibleContradictionsSql,
  singleRowRule,
} from '../../../recording/histories/contradictions.ts';
import { sortAsReleased } from '../released-columns.ts';
import { asOfFunction, tableView } from '../table-views.ts';
import {
  declareColumn,
  recorderColumn,
  runIdColumn,
  upstreamColumns,
  type ViewColumn,
} from '../view-columns.ts';

/** Returns the views of a log: the current rows, and the earlier contradicting rows. */
export function logViews(dataset: Dataset): Declared[] {
  const said = [
    ...upstreamColumns(dataset),
    recorderColumn('recorded_at', 'timestamptz', 'When it was recorded.'),
    runIdColumn,
  ];
  return [
    tableView(dataset, dataset.name, dataset.about, said, 'superseded_at is null'),
    conflicts(dataset, said),
    asOfFunction(
      dataset,
      said,
      { from: `reporting.${dataset.name}`, where: 'recorded_at <= at' },
      // The rows that have other values now.
      {
        from: `reporting.${dataset.name}_conflicts`,
        where: 'recorded_at <= at and superseded_at > at and differs is not null',
      },
    ),
  ];
}

/** Returns the view with all contradicting versions of a row, side by side; none is deleted. */
function conflicts(dataset: Dataset, said: readonly ViewColumn[]): DeclaredView {
  const { name, single, key } = dataset;
  const once = singleRowRule(dataset);
  const table = `recorder.${name}`;
  const view = `${name}_conflicts`;
  const columns = sortAsReleased(view, [
    ...said,
    recorderColumn('superseded_at', 'timestamptz', 'Until when it was shown; null: it still is.'),
    recorderColumn(
      'differs',
      'text[]',
      'Of an earlier saying: the columns that are said differently now. Null: it is shown.',
    ),
  ]);
  const differing = comparedColumns(dataset).map(
    (column) =>
      `case when ${comparedValueSql(column, 's')} is distinct from ${comparedValueSql(column, 'n')} then '${column.name}' end`,
  );
  const list = (differs: string) =>
    columns
      .map((column) => (column.name === 'differs' ? `${differs} as differs` : `s.${column.name}`))
      .join(', ');
  const revised = `exists (select from ${table} o where ${sameKeySql(dataset, 'o', 's')} and o.superseded_at is not null)`;
  const shown = (from: string, where: string) =>
    `select ${list('null::text[]')} from ${from} s where s.superseded_at is null and ${where}`;
  const body = [
    shown(table, revised),
    ...(once ? [shown(besideOthers(once), `${contradictedSql(once)} and not ${revised}`)] : []),
    `select ${list(`array_remove(array[${differing.join(', ')}]::text[], null)`)} from ${table} s
join ${table} n on ${sameKeySql(dataset, 'n', 's')} and n.superseded_at is null where s.superseded_at is not null`,
  ].join('\nunion all\n');
  const others = key.filter((part) => !single?.includes(part));
  const also = single
    ? `, and rows that contradict each other: the same ${single.join(', ')}, but not the same ${others.join(', ')}`
    : '';
  const comment = `What the upstream said differently of the same row of ${name}, old and new${also}.`;
  return { kind: 'view', name: view, comment, columns: columns.map(declareColumn), body };
}

/**
 * Returns SQL of the rows that other rows may contradict. `offset 0` makes PostgreSQL look up each key,
 * instead of reading all rows.
 */
function besideOthers(telling: ContradictionRule): string {
  const { dataset, thing } = telling;
  return `(${possibleContradictionsSql(telling)}) c
cross join lateral (
  select * from recorder.${dataset.name} r where ${thing.map((column) => `r.${column} = c.${column}`).join(' and ')} and r.superseded_at is null offset 0)`;
}
