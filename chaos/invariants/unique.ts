import { keyColumnSql } from '../../src/datasets/dataset.ts';
import { tableRowsSql } from '../../src/datasets/target-columns.ts';
import { recorded } from '../../src/reporting/recorded-datasets.ts';
import type { Invariant } from './invariant.ts';

/** B: natural keys are unique: an object has one row, or one version at a time. */
export const unique: Invariant = {
  letter: 'B',
  description: 'natural keys are unique',
  async check({ sql }) {
    const problems: string[] = [];
    for (const dataset of recorded) {
      const [row] = await sql.unsafe<{ doubled: number }[]>(
        `select count(*)::int as doubled from (${doubled(dataset)}) d`,
      );
      if (row && row.doubled > 0) problems.push(`${dataset.name}: ${row.doubled} keys more than once`);
    }
    return problems;
  },
};

/**
 * The repeated keys. Queried from the rows themselves, not from the index that should prevent it; of readings in all
 * their forms.
 */
function doubled(dataset: (typeof recorded)[number]): string {
  const { key, columns, history } = dataset;
  const parts = key.map((column) =>
    keyColumnSql(column, columns.find((one) => one.name === column)?.nullable ?? false),
  );
  const list = [...parts, ...(history === 'sample' ? ['observed_at'] : [])].join(', ');
  const table = `${rowsIn(dataset)} as one`;
  const versions = (from: string, to: string, rows = table) =>
    `select 1 from (select ${from} as f, lag(coalesce(${to}, 'infinity')) over (partition by ${list} order by ${from}, coalesce(${to}, 'infinity')) as t
      from ${rows}) v where t > f`;
  // Late-decoded items are stored without being visible.
  const visibleRows = `(select * from ${table} where valid_to is distinct from valid_from) visible`;
  if (history === 'log') return versions('valid_from', 'valid_to', visibleRows);
  if (history === 'series') return versions('valid_from', 'valid_to');
  if (history === 'state') return versions('valid_from', 'valid_to');
  if (history === 'ledger') return versions('started_at', 'ended_at');
  return `select 1 from ${table} group by ${list} having count(*) > 1`;
}

/** All rows, with the columns of their key. */
function rowsIn(dataset: (typeof recorded)[number]): string {
  if (dataset.history === 'ledger') return `recorder.${dataset.name}`;
  return dataset.history === 'sample' ? `reporting.${dataset.relation}` : tableRowsSql(dataset);
}
