import type postgres from 'postgres';
import type { Arena, Run } from './arena.ts';
import { median } from './median.ts';
import type { Options } from './options.ts';

/** Cost of polls that find nothing new. */
export interface PollResult {
  readonly name: string;
  /** Items in the response. */
  readonly items: number;
  /** Rows in the table, before and after the history was added. */
  readonly rows: readonly [number, number];
  /** Median milliseconds of a poll, before and after. */
  readonly milliseconds: readonly [number, number];
}

/** Untimed polls: the first ones compile and plan. */
const WARM_UP = 15;

const polls = [
  {
    contender: 'metricPoll',
    name: 'metric page',
    table: 'metric_points',
    from: 'valid_from',
    to: 'valid_to',
  },
  { contender: 'validatorPoll', name: 'validators', table: 'validators', from: 'valid_from', to: 'valid_to' },
] as const;

type Poll = (typeof polls)[number];

/** Times polls whose response is stored already, and again when the table has earlier versions, too. */
export async function measurePolls(
  { sql, open }: Arena,
  options: Options,
  onResult: (result: PollResult) => void,
): Promise<PollResult[]> {
  const results: PollResult[] = [];
  for (const poll of polls) {
    const run = await open(poll.contender);
    const first = await run();
    await sql`analyze ${sql(`recorder.${poll.table}`)}`;
    await medianOf(run, WARM_UP);
    const before = await medianOf(run, options.polls);
    await addHistory(sql, poll, options.versions);
    const after = await medianOf(run, options.polls);
    const rows = await countRows(sql, poll);
    const result: PollResult = {
      name: poll.name,
      items: first.rows,
      rows: [first.rows, rows],
      milliseconds: [before, after],
    };
    results.push(result);
    onResult(result);
  }
  return results;
}

async function medianOf(run: () => Promise<Run>, times: number): Promise<number> {
  const milliseconds: number[] = [];
  for (let at = 0; at < times; at++) {
    const { rows, milliseconds: elapsedMs } = await run();
    if (rows > 0) throw new Error(`a poll wrote ${rows} rows though nothing had changed`);
    milliseconds.push(elapsedMs);
  }
  return median(milliseconds);
}

/** Adds earlier versions to every current row, an hour each; then does the work of autovacuum after that many rows. */
async function addHistory(sql: postgres.Sql, { table, from, to }: Poll, versions: number): Promise<void> {
  const name = sql(`recorder.${table}`);
  const columns = await sql<{ name: string }[]>`
    select attname as name from pg_attribute
    where attrelid = ${`recorder.${table}`}::regclass and attnum > 0 and not attisdropped
      and attname not in (${from}, ${to})`;
  const others = sql(columns.map((column) => column.name));
  await sql`
    insert into ${name} (${others}, ${sql(from)}, ${sql(to)})
    select ${others}, ${sql(from)} - make_interval(hours => age), ${sql(from)} - make_interval(hours => age - 1)
    from ${name}, generate_series(1, ${versions}::int) as age`;
  await sql`vacuum analyze ${name}`;
}

async function countRows(sql: postgres.Sql, { table }: Poll): Promise<number> {
  const [row] = await sql<
    { count: number }[]
  >`select count(*)::int as count from ${sql(`recorder.${table}`)}`;
  return row?.count ?? 0;
}
