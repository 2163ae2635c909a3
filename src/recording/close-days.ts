import type postgres from 'postgres';
import { catalog } from '../datasets/catalog.ts';
import type { Dataset } from '../datasets/contract.ts';
import { isDatabaseUnavailable } from '../db/connection-error.ts';
import { toErrorMessage } from '../lib/errors.ts';
import { type CloseDayResult, closeDaySql } from './readings/close-day.ts';
import { packingOf, regclassSql } from './readings/value-encoding.ts';

/**
 * Time for which a day stays open after the day has ended, in ms. A reading that started before the end may
 * still be committed.
 */
const CLOSE_DELAY_MS = 30 * 60_000;

/** A day of a scope that has readings that are not packed yet. */
interface OpenDay {
  readonly request: string[];
  readonly day: string;
}

/** A day that could not be closed. The readings of the day are unchanged and are retried at the next call. */
export interface CloseDayFailure {
  readonly dataset: string;
  readonly request: readonly string[];
  readonly day: string;
  readonly error: string;
}

/** Result of closing days. */
export interface CloseDaysResult extends CloseDayResult {
  readonly failed: readonly CloseDayFailure[];
}

/**
 * Packs the readings of ended days, oldest first, in one statement per day and scope. Late readings of closed
 * days are packed, too. The work can be stopped or killed at any time. If several processes run this
 * function, each day is closed by one of them.
 * @param sql a dedicated connection (`openSealing`)
 * @param now ms since 1970
 * @param signal stops the work between two days
 * @throws an error if the connection is lost or the signal aborts
 */
export async function closeDays(
  sql: postgres.Sql,
  now: number,
  signal: AbortSignal,
): Promise<CloseDaysResult> {
  const today = new Date(now - CLOSE_DELAY_MS).toISOString().slice(0, 10);
  const failed: CloseDayFailure[] = [];
  let [packed, kept] = [0, 0];
  for (const dataset of catalog.filter(({ history }) => history === 'sample')) {
    const statement = closeDaySql(dataset);
    for (const { request, day } of await sql.unsafe<OpenDay[]>(openDays(dataset), [today])) {
      if (signal.aborted) return { packed, kept, failed };
      try {
        const closed = await closeDay(sql, dataset, statement, { request, day });
        packed += closed.packed;
        kept += closed.kept;
      } catch (error) {
        // The cause is not the day: all other days would fail, too.
        if (signal.aborted || isDatabaseUnavailable(error)) throw error;
        failed.push({ dataset: dataset.name, request, day, error: toErrorMessage(error) });
      }
    }
  }
  return { packed, kept, failed };
}

async function closeDay(
  sql: postgres.Sql,
  dataset: Dataset,
  statement: string,
  { request, day }: OpenDay,
): Promise<CloseDayResult> {
  await sql.unsafe(
    `insert into recorder.reading_scopes (dataset, request) values (${regclassSql(packingOf(dataset))}, $1::text[]) on conflict do nothing`,
    [request],
  );
  const [closed] = await sql.unsafe<CloseDayResult[]>(statement, [request, day]);
  return closed ?? { packed: 0, kept: 0 };
}

/**
 * SQL: days before $1 that have unpacked readings. Days whose unpacked rows are exactly those that were kept
 * at the last closing are left out.
 */
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
        left join recorder.reading_scopes s on s.dataset = ${regclassSql(packing)} and s.request = r.request
        left join recorder.reading_kept k on k.scope_id = s.scope_id and k.day = r.day
      where k.rows is distinct from r.rows
      union
      select s.request, ${day('l.observed_at')} from recorder.reading_open l join recorder.reading_scopes s using (scope_id)
      where l.dataset = ${regclassSql(packing)} and l.observed_at < ${before}
    )
    select request, day::text from days order by day, request`;
}
