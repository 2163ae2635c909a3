import type { Dataset } from '../../../datasets/contract.ts';
import type { Declared, DeclaredView } from '../../../db/declared.ts';
import { sameKey } from '../../../recording/histories/batch.ts';
import { steady, steadyColumns } from '../../../recording/histories/change-recording.ts';
import {
  contradicted,
  perhapsContradicted,
  type Telling,
  toldOnce,
} from '../../../recording/histories/contradictions.ts';
import { asReleased } from '../released-columns.ts';
import { asOf, tableView } from '../table-views.ts';
import { added, declared, recordedBy, upstreamColumns, type ViewColumn } from '../view-columns.ts';

/** Returns the views of a log: the current rows, and the earlier contradicting rows. */
export function logViews(dataset: Dataset): Declared[] {
  const said = [
    ...upstreamColumns(dataset),
    added('recorded_at', 'timestamptz', 'When it was recorded.'),
    recordedBy,
  ];
  return [
    tableView(dataset, dataset.name, dataset.about, said, 'superseded_at is null'),
    conflicts(dataset, said),
    asOf(
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
  const once = toldOnce(dataset);
  const table = `recorder.${name}`;
  const view = `${name}_conflicts`;
  const columns = asReleased(view, [
    ...said,
    added('superseded_at', 'timestamptz', 'Until when it was shown; null: it still is.'),
    added(
      'differs',
      'text[]',
      'Of an earlier saying: the columns that are said differently now. Null: it is shown.',
    ),
  ]);
  const differing = steadyColumns(dataset).map(
    (column) =>
      `case when ${steady(column, 's')} is distinct from ${steady(column, 'n')} then '${column.name}' end`,
  );
  const list = (differs: string) =>
    columns
      .map((column) => (column.name === 'differs' ? `${differs} as differs` : `s.${column.name}`))
      .join(', ');
  const revised = `exists (select from ${table} o where ${sameKey(dataset, 'o', 's')} and o.superseded_at is not null)`;
  const shown = (from: string, where: string) =>
    `select ${list('null::text[]')} from ${from} s where s.superseded_at is null and ${where}`;
  const body = [
    shown(table, revised),
    ...(once ? [shown(besideOthers(once), `${contradicted(once)} and not ${revised}`)] : []),
    `select ${list(`array_remove(array[${differing.join(', ')}]::text[], null)`)} from ${table} s
join ${table} n on ${sameKey(dataset, 'n', 's')} and n.superseded_at is null where s.superseded_at is not null`,
  ].join('\nunion all\n');
  const others = key.filter((part) => !single?.includes(part));
  const also = single
    ? `, and rows that contradict each other: the same ${single.join(', ')}, but not the same ${others.join(', ')}`
    : '';
  const comment = `What the upstream said differently of the same row of ${name}, old and new${also}.`;
  return { kind: 'view', name: view, comment, columns: columns.map(declared), body };
}

/**
 * Returns SQL of the rows that other rows may contradict. `offset 0` makes PostgreSQL look up each key,
 * instead of reading all rows.
 */
function besideOthers(telling: Telling): string {
  const { dataset, thing } = telling;
  return `(${perhapsContradicted(telling)}) c
cross join lateral (
  select * from recorder.${dataset.name} r where ${thing.map((column) => `r.${column} = c.${column}`).join(' and ')} and r.superseded_at is null offset 0)`;
}
