import type postgres from 'postgres';
import { catalog } from '../../src/datasets/catalog.ts';
import type { Dataset } from '../../src/datasets/contract.ts';
import { rowColumns } from '../../src/recording/histories/batch.ts';
import { packReadings } from '../pages/fill-lists.ts';
import { withoutIndexes } from '../pages/without-indexes.ts';

/** The columns of `recorder.runs` and `recorder.changes` that number their rows. */
const BOOKKEEPING = { runs: ['run_id', 'started_at'], changes: ['commit_number', 'recorded_at'] } as const;

/** Number of recorded rows: versions, items and readings of all datasets. */
export async function rowsIn(sql: postgres.Sql): Promise<number> {
  let rows = 0;
  for (const { name, relation, history } of catalog) {
    const [counted] = await sql.unsafe<{ count: number }[]>(
      `select count(*)::int as count from ${history === 'sample' ? `reporting.${relation}` : `recorder.${name}`}`,
    );
    rows += counted?.count ?? 0;
  }
  return rows;
}

/**
 * Adds a past to a record: before each current row this many others of the same target, each as long before the next as
 * the record is. A list's member and a point get earlier versions, a log gets earlier items, and readings get earlier
 * polls. Runs and the change feed get as much. The current rows are unchanged, so that the next poll has the same work.
 * @param hours length of the record
 */
export async function addPast(sql: postgres.Sql, url: string, times: number, hours: number): Promise<void> {
  for (const dataset of catalog)
    await withoutIndexes(sql, dataset.name, () => sql.unsafe(pastRowsSql(dataset, hours), [times]));
  for (const [table, [number, instant]] of Object.entries(BOOKKEEPING)) {
    const others = await otherColumns(sql, table, [number, instant]);
    // Their numbers are above all numbers of the rounds, because those below are not enough.
    await sql.unsafe(
      `insert into recorder.${table} (${[number, instant, ...others].join(', ')})
      select 1000000000 + row_number() over (), ${instant} - make_interval(hours => age * ${hours}), ${others.join(', ')}
      from recorder.${table}, generate_series(1, $1::int) age`,
      [times],
    );
  }
  await packReadings(url);
  await sql`vacuum analyze`;
}

/** SQL that writes the past of a dataset. */
function pastRowsSql(dataset: Dataset, hours: number): string {
  const { name, relation, history, key, columns } = dataset;
  const ago = (instant: string, times = 'age') =>
    `${instant} - make_interval(hours => (${times}) * ${hours})`;
  const kept = rowColumns(dataset).map((column): [string, string] => [column, column]);
  const ofItem = new Set(
    columns
      .filter((column) => column.path.length > 0 && key.includes(column.name))
      .map((column) => column.name),
  );
  const other = (column: string) => {
    const { type } = columns.find((one) => one.name === column) ?? {};
    if (type === 'text') return `md5(${column} || age)`;
    return type === 'timestamptz' ? ago(column) : `${column} + 1000000000 * age::bigint`;
  };
  const forms: Record<Dataset['history'], readonly (readonly [string, string])[]> = {
    state: [
      ...kept,
      ['valid_from', ago('valid_from')],
      ['valid_to', ago('valid_from', 'age - 1')],
      ['ended_by', `'changed'`],
    ],
    series: [...kept, ['valid_from', ago('valid_from')], ['valid_to', ago('valid_from', 'age - 1')]],
    log: [
      ...kept.map(([column]): [string, string] => [column, ofItem.has(column) ? other(column) : column]),
      ['valid_from', ago('valid_from')],
      // A row that is the only one of its kind gets earlier entries that were shown before.
      ...(ofItem.size > 0 ? [] : [['valid_to', ago('valid_from', 'age - 1')] as const]),
    ],
    // The fields alone identify the readings of a view.
    sample: [...kept.filter(([column]) => column !== 'extra'), ['observed_at', ago('observed_at')]],
  };
  const values = new Map([...forms[history], ['run_id', 'run_id']]);
  const isSample = history === 'sample';
  return `insert into recorder.${name} (${[...values.keys()].join(', ')})
    select ${[...values.values()].join(', ')}
    from ${isSample ? `reporting.${relation}` : `recorder.${name}`}, generate_series(1, $1::int) age
    where ${isSample ? 'true' : 'valid_to is null'}`;
}

async function otherColumns(
  sql: postgres.Sql,
  table: string,
  without: readonly string[],
): Promise<readonly string[]> {
  const columns = await sql<{ name: string }[]>`
    select attname as name from pg_attribute
    where attrelid = ${`recorder.${table}`}::regclass and attnum > 0 and not attisdropped and attname <> all(${[...without]})`;
  return columns.map(({ name }) => name);
}
