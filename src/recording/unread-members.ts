import type postgres from 'postgres';
import type { Dataset } from '../datasets/contract.ts';
import {
  hasBitSql,
  memberTextsSql,
  numberOf,
  packingOf,
  regclassSql,
  wasReadSql,
} from './readings/value-encoding.ts';

/**
 * Number of pages of `recorder.reading_members`, 8 kB each, that one statement scans: some ten thousand
 * members.
 */
const PAGES_PER_STATEMENT = 256;
/**
 * Time for which a retired member is kept, in ms. Every statement that read the number of the member
 * before the retirement has ended by then.
 */
const RETIRED_RETENTION_MS = 86_400_000;

/**
 * Removes members without retained readings. A concurrent commit may still use the number of such a member,
 * and no lock prevents this. So a member is first retired, which hides its number from later readings, and
 * removed at least a day later. If a concurrent reading has used the number, the member is kept until the
 * retention removes the last day of that reading. A member is also kept while the change feed has an entry
 * with its number, because the feed resolves readings and their members by this number.
 * @param now ms since 1970
 * @param signal stops the work between two statements
 */
export async function removeUnreadMembers(
  sql: postgres.Sql,
  dataset: Dataset,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  const text = removeMembersSql(dataset);
  const [size] = await sql<{ pages: number }[]>`
    select (pg_relation_size('recorder.reading_members') / current_setting('block_size')::int)::float8 as pages`;
  for (let page = 0; page < (size?.pages ?? 0) && !signal.aborted; page += PAGES_PER_STATEMENT)
    await sql.unsafe(text, [
      `(${page},0)`,
      `(${page + PAGES_PER_STATEMENT},0)`,
      new Date(now),
      new Date(now - RETIRED_RETENTION_MS),
    ]);
}

/**
 * SQL that retires members without readings, and removes members that are retired for long enough. $1 and $2:
 * range of pages; $3: now; $4: members that were retired until then are removed.
 */
function removeMembersSql(dataset: Dataset): string {
  const packing = packingOf(dataset);
  const { request } = packing;
  const ofRequest = request.map(({ name }, at) => `r.${name} = c.request[${at + 1}]`);
  const n = numberOf('c');
  const sameMember = 'm.scope_id = u.scope_id and m.chunk = u.chunk and m.seat = u.seat';
  return `
    with closed as materialized (
      -- The offset enforces a search by the primary key for each member. Most members are found on the first kept day.
      select m.scope_id, m.chunk, m.seat, m.texts, m.retired_at, s.request
      from recorder.reading_members m join recorder.reading_scopes s on s.scope_id = m.scope_id
      where m.ctid >= $1::tid and m.ctid < $2::tid and s.dataset = ${regclassSql(packing)}
        and (m.retired_at is null or m.retired_at <= $4)
        and not exists (
          select from recorder.reading_days d where d.scope_id = m.scope_id and d.chunk = m.chunk
            and ${wasReadSql(packing)} offset 0)
    ), open as materialized (
      ${bitOrSql('select scope_id, present from recorder.reading_open where scope_id in (select scope_id from closed)')}
    ), reported as materialized (
      ${bitOrSql(`select scope_id, present from recorder.changes
          where dataset = '${dataset.name}' and scope_id in (select scope_id from closed where retired_at is not null)`)}
    ), unread as materialized (
      select c.scope_id, c.chunk, c.seat
      from closed c left join open o on o.scope_id = c.scope_id left join reported h on h.scope_id = c.scope_id
      where (o.present is null or not ${hasBitSql(n, 'o.present')})
        and (c.retired_at is null or h.present is null or not ${hasBitSql(n, 'h.present')})
        and not exists (
          select from recorder.${dataset.name} r where ${[...ofRequest, `${memberTextsSql(packing, 'r')} = c.texts`].join(' and ')})
    ), deleted as (
      delete from recorder.reading_members m using unread u where ${sameMember} and m.retired_at <= $4 returning 1
    )
    update recorder.reading_members m set retired_at = $3 from unread u where ${sameMember} and m.retired_at is null`;
}

/**
 * SQL: one row per scope with the bitwise OR of its bit strings.
 * @param strings a SELECT of `scope_id` and `present`
 */
const bitOrSql = (strings: string) => `
      -- Only bit strings of the same length can be combined.
      select scope_id, bit_or(present || repeat('0', width - length(present))::varbit)::varbit as present
      from (select scope_id, present, max(length(present)) over (partition by scope_id) as width from (${strings}) s) l
      group by scope_id`;
