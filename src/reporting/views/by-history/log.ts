import type { Dataset } from '../../../datasets/contract.ts';
import type { Declared } from '../../../db/declared.ts';
import { sameKeySql } from '../../../recording/histories/batch.ts';
import { comparedColumns, comparedValueSql } from '../../../recording/histories/change-recording.ts';
import { asOfFunction, historyViews, REPLACED, tableView } from '../table-views.ts';
import {
  computedVersionId,
  endedByColumn,
  recorderColumn,
  runIdColumn,
  upstreamColumns,
  type ViewColumn,
  validFromColumn,
  validToColumn,
  versionIdColumn,
} from '../view-columns.ts';

const CURRENT = 'r.valid_to is null';

/** Returns the views of a log: the current rows, and all versions. */
export function logViews(dataset: Dataset): Declared[] {
  const { relation, about } = dataset;
  const columnsWith = (versionId: ViewColumn) => [
    ...upstreamColumns(dataset),
    versionId,
    validFromColumn,
    runIdColumn,
  ];
  const columns = columnsWith(computedVersionId(dataset));
  const differs = recorderColumn(
    'differs',
    'text[]',
    'The columns whose values differ from those of the current version. Null: the version is current.',
  );
  return [
    tableView(dataset, relation, about, columns, { where: CURRENT }),
    ...historyViews(
      dataset,
      [...columns, validToColumn, endedByColumn, differs],
      { where: CURRENT, columns: { ended_by: 'null::text', differs: 'null::text[]' } },
      {
        where: 'r.valid_to is not null',
        columns: { ended_by: `'changed'::text`, differs: differingColumnsSql(dataset) },
      },
    ),
    asOfFunction(
      dataset,
      columnsWith(versionIdColumn),
      { from: `reporting.${relation}`, where: 'valid_from <= at' },
      // The versions that newer versions have replaced since.
      {
        from: `reporting_internal.${relation}_${REPLACED}`,
        where: 'valid_from <= at and valid_to > at',
      },
    ),
  ];
}

/**
 * Returns SQL of the names of the columns in which an earlier version `r` differs from the current version.
 */
function differingColumnsSql(dataset: Dataset): string {
  const differing = comparedColumns(dataset).map(
    (column) =>
      `case when ${comparedValueSql(column, 'r')} is distinct from ${comparedValueSql(column, 'n')} then '${column.name}' end`,
  );
  return `(select array_remove(array[${differing.join(', ')}]::text[], null)
  from recorder.${dataset.name} n where ${sameKeySql(dataset, 'n', 'r')} and n.valid_to is null)`;
}
