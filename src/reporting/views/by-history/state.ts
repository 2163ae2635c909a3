import type { Dataset } from '../../../datasets/contract.ts';
import { VALIDITY_RANGE } from '../../../datasets/dataset.ts';
import type { Declared, DeclaredView } from '../../../db/declared.ts';
import { sameKeySql } from '../../../recording/histories/batch.ts';
import { asOfFunction, tableView } from '../table-views.ts';
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

/**
 * Returns the views of a list (the current members, every version, and the changes), and the function with
 * the members at a past moment.
 */
export function stateViews(dataset: Dataset): Declared[] {
  const { relation, about } = dataset;
  const columnsWith = (versionId: ViewColumn) => [
    ...upstreamColumns(dataset),
    versionId,
    validFromColumn,
    runIdColumn,
  ];
  const now = columnsWith(computedVersionId(dataset));
  return [
    tableView(dataset, relation, `${about} The current members.`, now, { where: 'valid_to is null' }),
    tableView(
      dataset,
      `${relation}_history`,
      `${about} Every version of every member.`,
      [...now, validToColumn, endedByColumn],
      { where: 'true' },
    ),
    asOfFunction(dataset, columnsWith(versionIdColumn), {
      from: `reporting.${relation}_history`,
      where: dataset.byMoment
        ? `${VALIDITY_RANGE} @> at`
        : 'valid_from <= at and (valid_to is null or valid_to > at)',
    }),
    changes(dataset),
  ];
}

/** Returns the view of the changes in a list, one row per change. */
function changes(dataset: Dataset): DeclaredView {
  const { name, relation, key } = dataset;
  const table = `recorder.${name}`;
  const types = new Map(dataset.columns.map((column) => [column.name, column.type]));
  const keyColumns = key.map((column) =>
    recorderColumn(column, types.get(column) ?? 'text', 'Key of the member.'),
  );
  const extra = dataset.extra === false ? [] : ['extra'];
  const columns = [...dataset.columns.map((column) => column.name), ...extra].filter(
    (one) => !key.includes(one),
  );
  const of = (row: string) => columns.map((column) => `${row}.${column}`).join(', ');
  const rowOf = (row: string) => `row(${of(row)})`;
  const content = (row: string) => `(select to_jsonb(c) from (select ${of(row)}) as c)`;
  const same = (other: string) => sameKeySql(dataset, other, 'v');
  const keyOf = (row: string) => key.map((column) => `${row}.${column}`).join(', ');
  return {
    kind: 'view',
    name: `${relation}_changes`,
    comment: `Members of ${relation} that joined, changed or left, by the time of the observation. The removal of a target from the configuration is no change; a target that is configured again continues from its last state.`,
    columns: [
      recorderColumn('at', 'timestamptz', 'Time at which the change was observed.'),
      recorderColumn(
        'change',
        'text',
        'joined, changed, or left (a complete list no longer contained the member).',
      ),
      ...keyColumns,
      recorderColumn(
        'before',
        'jsonb',
        'The member without its key before the change. Null: the member joined.',
      ),
      recorderColumn('after', 'jsonb', 'The member without its key after the change. Null: the member left.'),
      recorderColumn(
        'is_initial',
        'boolean',
        'True if the member was in the list at the first observation, so that it joined at an unknown earlier time.',
      ),
    ],
    // One branch per kind of change, so that a query for one kind does not read the rows of other kinds.
    // Instants are compared for equality, so that PostgreSQL can use a hash join. `is true` prevents the use of
    // the start of the retention as an index bound: with a second bound, PostgreSQL would greatly overestimate
    // the number of rows.
    body: `select v.valid_from as at, 'joined' as change, ${keyOf('v')}, null::jsonb as before, ${content('v')} as after,
  coalesce(r.started_at <= d.first_success_at, false) as is_initial
from ${table} v
left join recorder.runs r on r.run_id = v.run_id
left join recorder.target_datasets d on (d.source, d.target_key, d.dataset) = (r.source, r.target_key, '${name}')
where (v.valid_from >= coalesce((select k.kept_since from recorder.retention k where k.dataset = '${name}'), '-infinity')) is true
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
