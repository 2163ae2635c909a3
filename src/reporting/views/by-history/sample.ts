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
import { asOfFunction, withRecordCheck } from '../table-views.ts';
import {
  declareColumn,
  recorderColumn,
  runIdColumn,
  upstreamColumns,
  type ViewColumn,
  versionIdColumn,
} from '../view-columns.ts';

/** The surrogate key of a reading. */
const readingIdColumn: ViewColumn = {
  ...versionIdColumn,
  comment:
    'Surrogate key of the reading, the same in every database that recorded it: a hash of the dataset, the key and the time of the reading.',
};

/** Returns the views of readings, and of their daily averages. */
export function sampleViews(dataset: Dataset): Declared[] {
  const read = [
    ...upstreamColumns(dataset),
    readingIdColumn,
    recorderColumn('observed_at', 'timestamptz', 'Time of the reading.'),
    runIdColumn,
  ];
  return [
    readingsView(dataset, read),
    readingsAsOf(dataset, read),
    observationTimesView(dataset, read),
    ...daily(dataset),
  ];
}

/** Returns the view of the readings, in all their storage formats. */
function readingsView(dataset: Dataset, selected: readonly ViewColumn[]): DeclaredView {
  const { relation: name, about } = dataset;
  const columns = sortAsReleased(name, selected);
  const packing = packingOf(dataset);
  const names = columns.map((column) => [column.name, column.type] as const);
  const body = allReadings(packing, names);
  return { kind: 'view', name, comment: about, columns: columns.map(declareColumn), body };
}

/** Returns the view of the times of readings, without the readings. */
function observationTimesView(dataset: Dataset, read: readonly ViewColumn[]): DeclaredView {
  const { name } = dataset;
  const packing = packingOf(dataset);
  const selected = new Set([...packing.request.map((column) => column.name), 'observed_at', 'run_id']);
  return {
    kind: 'view',
    name: observationsViewName(name),
    schema: 'reporting_internal',
    comment: `Times of the readings of ${name}: one row per observation, and an additional row if a part of the readings is stored separately.`,
    columns: read.filter((column) => selected.has(column.name)).map(declareColumn),
    body: observationsSql(packing),
  };
}

/**
 * Returns the views of the members of readings and of the daily averages. Returns no views if the readings
 * have no numbers.
 */
function daily(dataset: Dataset): Declared[] {
  const packing = packingOf(dataset);
  const numbers = numbersOf(packing);
  if (numbers.length === 0) return [];
  const name = `${dataset.relation}_daily`;
  const memberColumns = [...packing.request, ...packing.texts];
  const columns = [
    ...memberColumns.map((column) => recorderColumn(column.name, column.type, column.comment)),
    recorderColumn('day', 'date', 'The day (UTC).'),
    ...numbers.flatMap(({ column }) => [
      recorderColumn(`${column.name}_readings`, 'bigint', `Number of readings of ${column.name}.`),
      recorderColumn(
        `${column.name}_average`,
        'numeric',
        `Average of the readings, to twelve decimals. Null: there are no values.`,
      ),
    ]),
  ];
  const members = membersColumns(packing).map((column) => ({ ...column, notNull: true }));
  return [
    {
      kind: 'view',
      name: membersViewName(dataset.name),
      schema: 'reporting_internal',
      comment: `The members that have readings of ${dataset.name}, as far back as readings are kept.`,
      columns: members.map(declareColumn),
      body: membersSql(packing),
    },
    {
      kind: 'view',
      name,
      comment: `${dataset.about} The average of each day: every reading has the same weight.`,
      columns: columns.map(declareColumn),
      body: dailyAveragesSql(packing, memberColumns),
    },
  ];
}

/** Returns the function with the readings up to a moment. */
function readingsAsOf(dataset: Dataset, selected: readonly ViewColumn[]): Declared {
  const { name, relation } = dataset;
  const columns = sortAsReleased(relation, selected);
  return {
    ...asOfFunction(dataset, selected),
    schema: 'reporting_internal',
    body: withRecordCheck(
      name,
      columns,
      `select ${columns.map((column) => column.name).join(', ')} from reporting.${relation} where observed_at <= at`,
    ),
  };
}
