import type postgres from 'postgres';
import { z } from 'zod';
import type { DeclaredColumn } from '../../db/declared.ts';
import { written } from './filters.ts';
import { pageShape, textOf as told } from './list-parameters.ts';
import type { Row, RowsPage } from './rows.ts';
import { Statement } from './statement.ts';
import { readValue, textOf } from './values.ts';

/** The most characters of one answer, beyond its first change: contents of changes may be long. */
const CHARACTERS = 4_000_000;
/** Changes of one answer unless told. */
const CHANGES = 100;

/** What of the feed is asked for. */
export interface FeedQuestion {
  /** The cursor of the last change that was taken; null: from the oldest that is kept. */
  readonly after: string | null;
  readonly limit: number;
}

/** The parameters of the feed. */
export const feedParameters = z
  .strictObject({
    after: written
      .meta({
        description:
          'The cursor of the last change that was taken, or `next` of the answer before: what followed is told. Absent: from the oldest that is kept.',
      })
      .optional(),
    limit: pageShape.limit,
  })
  .transform(
    (given): FeedQuestion => ({
      after: told(given, 'after') ?? null,
      limit: Number(told(given, 'limit') ?? CHANGES),
    }),
  );

/**
 * Reads the changes after a cursor, in the order of the feed.
 * @param columns of `reporting.changes`
 * @returns `next`: what to go on after, also where nothing is new; null: there is no change at all yet
 * @throws PostgresError 22023 when the cursor is none, is of another database, or is not kept any more
 */
export async function readFeed(
  sql: postgres.Sql,
  columns: readonly DeclaredColumn[],
  { after, limit }: FeedQuestion,
): Promise<RowsPage> {
  const statement = new Statement();
  const from = after === null ? 'null' : statement.value(after, 'text');
  const texts = columns.map(({ name, type }) => `${textOf(type, `c.${name}`)} as ${name}`).join(', ');
  const length = columns.map(({ name }) => `coalesce(length(t.${name}), 0)`).join(' + ');
  const names = columns.map(({ name }) => `k.${name}`).join(', ');
  const rows = await sql.unsafe<Record<string, string | null>[]>(
    `select ${names} from (
      select t.*, sum(${length}) over (order by t.place) - (${length}) as before from (
        select ${texts}, c.place as place
        from reporting.changes(${from}, ${statement.value(String(limit), 'integer')}) with ordinality
          as c(${columns.map(({ name }) => name).join(', ')}, place)) t) k
    where k.before < ${CHARACTERS} order by k.place`,
    statement.values,
  );
  const read = rows.map(
    (row): Row =>
      Object.fromEntries(columns.map(({ name, type }) => [name, readValue(type, row[name] ?? null)])),
  );
  return { rows: read, next: rows.at(-1)?.cursor ?? after };
}
