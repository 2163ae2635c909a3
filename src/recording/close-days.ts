import type postgres from 'postgres';
import { catalog } from '../datasets/catalog.ts';
import type { Dataset } from '../datasets/contract.ts';
import { type Closed, closing } from '../history/readings/closing.ts';
import { packingOf, tableOf } from '../history/readings/packing.ts';

/** After its end a day stays open for so long, ms: a look that began before may still be committed. */
const STAYS_OPEN = 30 * 60_000;

/** A day of a scope with readings that are not packed yet. */
interface OpenDay {
  readonly request: string[];
  readonly day: string;
}

/** The datasets whose readings are packed. */
export const packed: readonly Dataset[] = catalog.filter(({ history }) => history === 'sample');

/**
 * Packs the readings of days that have ended, the oldest first, a statement a day of a scope. What came late to a closed day is
 * packed into it, and so is what an earlier version recorded as rows. It can be stopped and killed between and within
 * statements; several processes may do it at once.
 * @param sql a connection of its own (`openSealing`) @param now ms since 1970 @param signal ends it between two days
 * @returns what was packed and kept in all
 */
export async function closeDays(sql: postgres.Sql, now: number, signal: AbortSignal): Promise<Closed> {
  const today = new Date(now - STAYS_OPEN).toISOString().slice(0, 10);
  let all: Closed = { packed: 0, kept: 0 };
  for (const dataset of packed) {
    const days = await sql.unsafe<OpenDay[]>(openDays(dataset), [today]);
    if (days.length === 0) continue;
    const statement = closing(dataset);
    for (const { request, day } of days) {
      if (signal.aborted) return all;
      await sql.unsafe(
        `insert into recorder.reading_scopes (dataset, request) values (${tableOf(packingOf(dataset))}, $1::text[]) on conflict do nothing`,
        [request],
      );
      const [closed] = await sql.unsafe<Closed[]>(statement, [request, day]);
      all = { packed: all.packed + (closed?.packed ?? 0), kept: all.kept + (closed?.kept ?? 0) };
    }
  }
  return all;
}

/** Days before $1 with readings that are not packed, and with more rows than stayed when the day was closed before. */
function openDays(dataset: Dataset): string {
  const packing = packingOf(dataset);
  const request = `array[${packing.request.map(({ name }) => `r.${name}`).join(', ')}]`;
  const day = (column: string) => `(${column} at time zone 'UTC')::date`;
  const before = `($1::date::timestamp at time zone 'UTC')`;
  return `
    with rows as (
      select ${request} as request, ${day('r.observed_at')} as day, count(*) as rows
      from recorder.${dataset.name} r where r.observed_at < ${before} group by 1, 2
    ), days as (
      select r.request, r.day from rows r
        left join recorder.reading_scopes s on s.dataset = ${tableOf(packing)} and s.request = r.request
        left join recorder.reading_kept k on k.scope_id = s.scope_id and k.day = r.day
      where k.rows is distinct from r.rows
      union
      select s.request, ${day('l.observed_at')} from recorder.reading_open l join recorder.reading_scopes s using (scope_id)
      where l.dataset = ${tableOf(packing)} and l.observed_at < ${before}
    )
    select request, day::text from days order by day, request`;
}
