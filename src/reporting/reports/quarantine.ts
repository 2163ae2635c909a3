import type postgres from 'postgres';

/** An item that could not be decoded or stored: a row of `reporting.quarantine`, without its JSON. */
export interface QuarantineRow {
  readonly id: string;
  readonly dataset: string;
  readonly target: string;
  readonly run_id: string;
  readonly reason: string;
  readonly first_seen: Date;
  readonly last_seen: Date;
  readonly times: number;
}

const PAGE_SIZE = 50;
const COLUMNS = 'id::text, dataset, target, run_id::text, reason, first_seen, last_seen, times::float8';
/** Maximum length of an item that is shown in full, in characters. */
const MAX_SHOWN_CHARACTERS = 100_000;

/** Returns a page of items, newest first. @param before only items with a smaller id */
export async function quarantinedPage(
  sql: postgres.Sql,
  { dataset, before }: { readonly dataset?: string | undefined; readonly before?: string | undefined },
): Promise<{ readonly items: readonly QuarantineRow[]; readonly next: string | null }> {
  const items = await sql<QuarantineRow[]>`
    select ${sql.unsafe(COLUMNS)} from reporting.quarantine q
    where id < coalesce(${before ?? null}::bigint, 9223372036854775807)
      ${dataset === undefined ? sql`` : sql`and dataset = ${dataset}`}
    order by q.id desc limit ${PAGE_SIZE}`;
  return { items, next: items.length === PAGE_SIZE ? (items.at(-1)?.id ?? null) : null };
}

/** Returns an item with its JSON, truncated if very long. Returns null if the item no longer exists. */
export async function quarantinedItem(
  sql: postgres.Sql,
  id: string,
): Promise<(QuarantineRow & { readonly item: string; readonly length: number }) | null> {
  const [row] = await sql<(QuarantineRow & { item: string; length: number })[]>`
    select ${sql.unsafe(COLUMNS)}, left(item, ${MAX_SHOWN_CHARACTERS}) as item, length(item) as length
    from reporting.quarantine where id = ${id}::bigint`;
  return row ?? null;
}
