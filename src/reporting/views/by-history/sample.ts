import type { Dataset } from '../../../datasets/contract.ts';
import type { Declared, DeclaredView } from '../../../db/declared.ts';
import { dailyAveragesSql } from '../../../recording/readings/daily.ts';
import { allReadings } from '../../../recording/readings/forms.ts';
import {
  membersColumns,
  membersSql,
  membersViewName,
  observationsSql,
  observationsViewName,
} from '../../../recording/readings/reading-views.ts';
import { numbersOf, packingOf } from '../../../recording/readings/value-encoding.ts';
import { sortAsReleased } from '../released-columns.ts';
import { asOfFunction } from '../table-views.ts';
import {
  declareColumn,
  recorderColumn,
  runIdColumn,
  upstreamColumns,
  type ViewColumn,
} from '../view-columns.ts';

/** Returns the views of readings, and of their daily averages. */
export function sampleViews(dataset: Dataset): Declared[] {
  const read = [
    ...upstreamColumns(dataset),
    recorderColumn('observed_at', 'timestamptz', 'When the reading was taken.'),
    runIdColumn,
  ];
  return [
    readingsView(dataset, read),
    readingsAsOf(dataset, read),
    lookTimesView(dataset, read),
    ...daily(dataset),
  ];
}

/** Returns the view of the readings, in all their storage formats. */
function readingsView(dataset: Dataset, selected: readonly ViewColumn[]): DeclaredView {
  const { name, about } = dataset;
  const columns = sortAsReleased(name, selected);
  const packing = packingOf(dataset);
  const names = columns.map((column) => [column.name, column.type] as const);
  const body = allReadings(packing, names);
  return { kind: 'view', name, comment: about, columns: columns.map(declareColumn), body };
}

/** Returns the view of the times of readings, without the readings. */
function lookTimesView(dataset: Dataset, read: readonly ViewColumn[]): DeclaredView {
  const { name } = dataset;
  const packing = packingOf(dataset);
  const readable = new Set([...packing.request.map((column) => column.name), 'observed_at', 'run_id']);
  return {
    kind: 'view',
    name: observationsViewName(name),
    internal: true,
    comment: `When the readings of ${name} were taken: one row a look, however much it read, and another one where some of it could not be packed with the rest.`,
    columns: read.filter((column) => readable.has(column.name)).map(declareColumn),
    body: observationsSql(packing),
  };
}

/** Returns the views of the members of readings, and of the daily averages if there are numbers. */
function daily(dataset: Dataset): Declared[] {
  const packing = packingOf(dataset);
  const numbers = numbersOf(packing);
  if (numbers.length === 0) return [];
  const name = `${dataset.name}_daily`;
  const things = [...packing.request, ...packing.words];
  const columns = [
    ...things.map((column) => recorderColumn(column.name, column.type, column.comment)),
    recorderColumn('day', 'date', 'The day (UTC).'),
    ...numbers.flatMap(({ column }) => [
      recorderColumn(`${column.name}_readings`, 'bigint', `How many readings of ${column.name} there are.`),
      recorderColumn(
        `${column.name}_average`,
        'numeric',
        `Their average, to twelve decimals; null: there is none.`,
      ),
    ]),
  ];
  const members = membersColumns(packing).map((column) => ({ ...column, notNull: true }));
  return [
    {
      kind: 'view',
      name: membersViewName(dataset.name),
      internal: true,
      comment: `What readings of ${dataset.name} were ever taken of, as far back as they are kept.`,
      columns: members.map(declareColumn),
      body: membersSql(packing),
    },
    {
      kind: 'view',
      name,
      comment: `${dataset.about} The average of each day: every reading counts the same, however long it stood.`,
      columns: columns.map(declareColumn),
      body: dailyAveragesSql(packing, things),
    },
  ];
}

/**
 * Returns the readings up to a moment. The check for a record is a branch of its own, which PostgreSQL always
 * runs; it would skip the check beside a join without rows. `offset 0` keeps PostgreSQL from detecting that
 * the branch has no rows.
 */
function readingsAsOf(dataset: Dataset, selected: readonly ViewColumn[]): Declared {
  const { name } = dataset;
  const columns = sortAsReleased(name, selected);
  return {
    ...asOfFunction(dataset, selected),
    body: `select * from (
  select ${columns.map((column) => `null::${column.type} as ${column.name}`).join(', ')} where not reporting_internal.has_record('${name}', at) offset 0
) without_record
union all
select ${columns.map((column) => column.name).join(', ')} from reporting.${name} where observed_at <= at`,
  };
}
