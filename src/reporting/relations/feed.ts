import type postgres from 'postgres';
import { z } from 'zod';
import type { DeclaredColumn } from '../../db/declared.ts';
import { limitedText } from './filters.ts';
import { getParamText, pageShape } from './list-parameters.ts';
import type { Row, RowsPage } from './rows.ts';
import { StatementBuilder } from './statement.ts';
import { readValue, valueTextSql } from './values.ts';

/** The function of the change feed. The function pages itself, by its own cursor. */
export const FEED = 'changes';

/**
 * Maximum number of characters per response, without the first change. The contents of changes may be long.
 */
const MAX_CHARACTERS = 4_000_000;
/** Default number of changes per response. */
const DEFAULT_CHANGES = 100;

/** The parameters of a request for the feed. */
export interface FeedQuery {
  /** The cursor of the last processed change. Null: start with the oldest change that is kept. */
  readonly after: string | null;
  readonly limit: number;
}

/** The schema of the parameters of the feed. */
export const feedParameters = z
  .strictObject({
    after: limitedText
      .meta({
        description:
          'The cursor of the last accepted change, or `next` of the previous response. Later changes are returned. Default: the oldest change that is kept.',
      })
      .optional(),
    limit: pageShape.limit,
  })
  .transform(
    (params): FeedQuery => ({
      after: getParamText(params, 'after') ?? null,
      limit: Number(getParamText(params, 'limit') ?? DEFAULT_CHANGES),
    }),
  );

/**
 * Reads the changes after a cursor, in the order of the feed.
 * @param columns the columns of `reporting.changes`
 * @returns `next`: the cursor of the next request, also if there is no new change; null if there is no change
 * yet
 * @throws PostgresError 22023 if the cursor is invalid, belongs to another database, or is older than the
 * changes that are kept
 */
export async function readFeed(
  sql: postgres.Sql,
  columns: readonly DeclaredColumn[],
  { after, limit }: FeedQuery,
): Promise<RowsPage> {
  const statement = new StatementBuilder();
  const from = after === null ? 'null' : statement.value(after, 'text');
  const texts = columns.map(({ name, type }) => `${valueTextSql(type, `c.${name}`)} as ${name}`).join(', ');
  const length = columns.map(({ name }) => `coalesce(length(t.${name}), 0)`).join(' + ');
  const names = columns.map(({ name }) => `k.${name}`).join(', ');
  const rows = await sql.unsafe<Record<string, string | null>[]>(
    `select ${names} from (
      select t.*, sum(${length}) over (order by t.place) - (${length}) as before from (
        select ${texts}, c.place as place
        from reporting.changes(${from}, ${statement.value(String(limit), 'integer')}) with ordinality
          as c(${columns.map(({ name }) => name).join(', ')}, place)) t) k
    where k.before < ${MAX_CHARACTERS} order by k.place`,
    statement.values,
  );
  const read = rows.map(
    (row): Row =>
      Object.fromEntries(columns.map(({ name, type }) => [name, readValue(type, row[name] ?? null)])),
  );
  return { rows: read, next: rows.at(-1)?.cursor ?? after };
}
