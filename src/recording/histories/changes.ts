import type { Dataset, DatasetColumn } from '../../datasets/contract.ts';
import { lockRow } from '../../db/row-lock.ts';
import { itemColumns } from './batch.ts';

/** Kinds of changes, by the letter in `recorder.changes`. */
export const CHANGE_KINDS = {
  a: 'appeared',
  r: 'revised',
  b: 'returned',
  l: 'left',
  u: 'unwatched',
  s: 'late',
} as const;

/** Returns the key columns that come from an item, in the order of the table. */
const keyOfItem = (dataset: Dataset): readonly DatasetColumn[] =>
  itemColumns(dataset).filter(({ name }) => dataset.key.includes(name));

/**
 * SQL: list of the key columns that come from an item.
 * @param row the alias of a row
 */
export const keyList = (dataset: Dataset, row: string): string =>
  keyOfItem(dataset)
    .map(({ name }) => `${row}.${name}, `)
    .join('');

/** Returns the array of each key column in `recorder.changes`, and its index in that array, from 1. */
export const keyPositions = (dataset: Dataset) => {
  const last = { texts: 0, keys: 0 };
  return keyOfItem(dataset).map(({ name, type }) => {
    const array = type === 'text' ? 'texts' : 'keys';
    last[array] += 1;
    return { name, type, array, index: last[array] } as const;
  });
};

/**
 * SQL: `texts` and `keys` of changes.
 * @param valuesOf returns SQL for the values of a column, as an array
 * @param since SQL for the last element of `keys`: the starts of the versions, as the text of an array
 */
function changeKeys(dataset: Dataset, valuesOf: (name: string) => string, since: string) {
  const positions = keyPositions(dataset);
  const texts = positions.flatMap(({ name, array }) => (array === 'texts' ? [valuesOf(name)] : []));
  const keys = positions.flatMap(({ name, array }) => (array === 'keys' ? [`${valuesOf(name)}::text`] : []));
  return {
    ...(texts.length > 0 && { texts: `array[${texts.join(', ')}]` }),
    keys: `array[${[...keys, since].join(', ')}]`,
  };
}

/**
 * The columns of `recorder.changes` that describe a change, in the order in which {@link changeSelectSql}
 * selects them.
 */
const CHANGE_COLUMNS = ['changes', 'kinds', 'texts', 'keys', 'scope_id', 'present', 'turns'] as const;

/** SQL: a select of {@link CHANGE_COLUMNS}, with null for columns without an expression. */
export const changeSelectSql = (
  expressions: Partial<Record<(typeof CHANGE_COLUMNS)[number], string>>,
): string => {
  const types = {
    changes: 'int',
    kinds: 'text',
    texts: 'text[]',
    keys: 'text[]',
    scope_id: 'int',
    present: 'varbit',
    turns: 'jsonb',
  };
  return `select ${CHANGE_COLUMNS.map((name) => `${expressions[name] ?? 'null'}::${types[name]} as ${name}`).join(', ')}`;
};

/**
 * SQL: one row that describes the changes of versions or log rows; no row if nothing changed.
 * @param rows a select of the key columns of the item, `begins` (start of the version) and `kind`
 * @param observedAt instant to which the starts are relative
 */
export function changeEventsSql(dataset: Dataset, rows: string, observedAt: string): string {
  return `${changeSelectSql({
    changes: 'count(*)',
    kinds: `string_agg(e.kind, '')`,
    ...changeKeys(
      dataset,
      (name) => `array_agg(e.${name})`,
      `array_agg((extract(epoch from e.begins - ${observedAt}) * 1000000)::bigint)::text`,
    ),
  })} from (${rows}) e having count(*) > 0`;
}

/**
 * SQL: same as {@link changeEventsSql}, for rows that are all new and start at the same instant. The keys of
 * the rows are in arrays already and need not be aggregated.
 * @param arrays the columns of the rows in the order of the table, one array each
 * @param written number of rows written: all or none
 * @param begins start of the rows
 */
export function newRowEventsSql(
  dataset: Dataset,
  arrays: readonly { readonly name: string; readonly array: string }[],
  written: string,
  begins: string,
  observedAt: string,
): string {
  const arrayOf = (column: string) => {
    const found = arrays.find(({ name }) => name === column);
    if (!found) throw new Error(`${dataset.name} has no array of ${column}`);
    return found.array;
  };
  return `${changeSelectSql({
    changes: 'n.count',
    kinds: `repeat('a', n.count)`,
    ...changeKeys(
      dataset,
      arrayOf,
      `array_fill((extract(epoch from ${begins} - ${observedAt}) * 1000000)::bigint, array[n.count])::text`,
    ),
  })} from (select ${written}::int as count) n where n.count > 0`;
}

/** Input of the CTEs that record changes. */
export interface ChangeRecording {
  /** SQL of the changes of each dataset (`changeSelectSql`), with the values of its request as `text[]`. */
  readonly events: readonly { readonly dataset: string; readonly request: string; readonly sql: string }[];
  readonly runId: string;
  readonly recordedAt: string;
  readonly observedAt: string;
  /** Names of CTEs that must complete first. */
  readonly after: readonly string[];
}

/**
 * Builds the CTEs that record the changes of a statement. The number of the commit is drawn last, under a
 * lock that PostgreSQL releases when the commit is visible. So numbers are in the order of commits: a reader
 * that sees a commit sees all commits with lower numbers. A writer that saw a change gets a higher number. A
 * statement without changes does not acquire the lock. The statement acquires all other locks first. So a
 * statement that holds this lock never waits for another lock, and two statements cannot deadlock.
 */
export function changeRecordingCtes({
  events,
  runId,
  recordedAt,
  observedAt,
  after,
}: ChangeRecording): string[] {
  const eventSelects = events.map(
    ({ dataset, request, sql }) =>
      `select '${dataset}' as dataset, ${request} as request, e.* from (${sql}) e`,
  );
  const ended = ['0', ...after.map((name) => `(select count(*) from ${name})`)].join(' + ');
  return [
    `new_events as materialized (
      ${eventSelects.join('\n      union all\n      ')})`,
    `turn as materialized (
      ${lockRow('changes', `exists (select from new_events) and ${ended} >= 0`)})`,
    // Migrations create the row of the lock. If it is missing, no commit may get a number, so that the
    // division by zero fails the statement.
    `locked as materialized (
      select 1 / (select count(*)::int from turn) as mine where exists (select from new_events))`,
    `noted as (
      insert into recorder.changes (dataset, run_id, recorded_at, observed_at, request, ${CHANGE_COLUMNS.join(', ')})
      select e.dataset, ${runId}, ${recordedAt}, ${observedAt}, e.request, ${CHANGE_COLUMNS.map((name) => `e.${name}`).join(', ')}
      from locked cross join new_events e where locked.mine = 1 returning 1)`,
  ];
}
