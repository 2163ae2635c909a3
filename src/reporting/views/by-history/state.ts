import type { Dataset } from '../../../datasets/contract.ts';
import { VALIDITY_RANGE } from '../../../datasets/dataset.ts';
import type { Declared, DeclaredView } from '../../../db/declared.ts';
import { sameKeySql } from '../../../recording/histories/batch.ts';
import { asOfFunction, tableView } from '../table-views.ts';
import { recorderColumn, runIdColumn, upstreamColumns } from '../view-columns.ts';

/** Returns the views of the members of a list: the current members, every version, and the changes. */
export function stateViews(dataset: Dataset): Declared[] {
  const { name, about } = dataset;
  const now = [
    ...upstreamColumns(dataset),
    recorderColumn('valid_from', 'timestamptz', 'Start of the version, as far as it was observed.'),
    runIdColumn,
  ];
  const ended = [
    recorderColumn('valid_to', 'timestamptz', 'Until when it was so; null: still so.'),
    recorderColumn(
      'ended_by',
      'text',
      'Why it ended: changed (a newer version took over), gone (a whole list did not show it any more), unwatched (its target is no longer configured). Null: still so.',
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
    asOfFunction(dataset, now, {
      from: `reporting.${name}_history`,
      where: dataset.byMoment
        ? `${VALIDITY_RANGE} @> at`
        : 'valid_from <= at and (valid_to is null or valid_to > at)',
    }),
    changes(dataset),
  ];
}

/** Returns the view of the changes in a list, one row per change. */
function changes(dataset: Dataset): DeclaredView {
  const { name, key } = dataset;
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
    name: `${name}_changes`,
    comment: `Who came, changed and went in ${name}, and when that was seen. That a target is no longer watched is no change; one that is watched again continues from where it was.`,
    columns: [
      recorderColumn('at', 'timestamptz', 'When the change was seen.'),
      recorderColumn('change', 'text', 'joined, changed, or left (a whole list did not show it any more).'),
      ...keyColumns,
      recorderColumn('before', 'jsonb', 'The member without its key before the change; null: it joined.'),
      recorderColumn('after', 'jsonb', 'The member without its key after the change; null: it left.'),
      recorderColumn(
        'first_look',
        'boolean',
        'It was in the list at the first observation: it joined at some earlier time.',
      ),
    ],
    // One branch per kind of change, so that a query for one kind reads no other. Instants are compared for
    // equality, so that they can be hash-joined. The start of the retention is no index bound: beside another
    // bound, PostgreSQL would overestimate the number of rows by far.
    body: `select v.valid_from as at, 'joined' as change, ${keyOf('v')}, null::jsonb as before, ${content('v')} as after,
  coalesce(r.started_at <= d.first_success_at, false) as first_look
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
