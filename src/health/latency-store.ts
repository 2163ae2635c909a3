import type postgres from 'postgres';
import { decodeSlots, encodeSlots } from './latency-entries.ts';
import { type Histogram, mergeHistograms } from './latency-histogram.ts';

/** Response times of one probe in one hour. */
export interface LatencyHour {
  readonly node: string;
  readonly probe: string;
  /** Start of the hour, in ms since 1970. */
  readonly hour: number;
  readonly histogram: Histogram;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
/** Number of weeks for which hours are kept. After that, days are the finest unit. */
export const WEEKS_KEPT = 3;

interface StoredSpan {
  readonly node: string;
  readonly probe: string;
  readonly span: string;
  readonly starts_at: Date;
}

/**
 * Adds complete hours to their weeks, and to the days of their months. Storing an hour again changes nothing.
 * Hours that are too old are deleted. The hours of the weeks that this call writes are kept until a later
 * call, so that a repetition of this call is detected.
 * @param now ms since 1970
 */
export async function storeHours(
  sql: postgres.Sql,
  observer: string,
  hours: readonly LatencyHour[],
  now: number,
): Promise<void> {
  const starts = [...new Set(hours.flatMap(({ hour }) => [weekOf(hour), monthOf(hour)]))].map((at) =>
    new Date(at).toISOString(),
  );
  const stored = await sql<(StoredSpan & { entries: Buffer })[]>`
    select node, probe, span, starts_at, entries from recorder.health_latency
    where observer = ${observer} and starts_at = any(${starts}::text[]::timestamptz[])`;
  const known = new Map(stored.map((row) => [keyOf(row), row.entries]));
  const touched = new Map<string, StoredSpan & { readonly slots: Map<number, Histogram> }>();
  const slotsOf = ({ node, probe }: LatencyHour, span: string, at: number) => {
    const row = { node, probe, span, starts_at: new Date(at) };
    const key = keyOf(row);
    const found = touched.get(key) ?? {
      ...row,
      slots: new Map(decodeSlots(known.get(key) ?? Buffer.alloc(0))),
    };
    touched.set(key, found);
    return found.slots;
  };
  for (const hour of hours) {
    const week = weekOf(hour.hour);
    const ofWeek = slotsOf(hour, 'week', week);
    const slot = (hour.hour - week) / HOUR;
    if (ofWeek.has(slot)) continue;
    ofWeek.set(slot, hour.histogram);
    // An hour is stored after the first response of a later hour. By then, the other hours of its day may be
    // deleted, so that only their sum is known.
    const ofMonth = slotsOf(hour, 'month', monthOf(hour.hour));
    const date = new Date(hour.hour).getUTCDate();
    ofMonth.set(date, mergeHistograms([ofMonth.get(date) ?? EMPTY_HISTOGRAM, hour.histogram]));
  }
  const rows = [...touched.values()].map(({ slots, ...row }) => ({
    ...row,
    entries: encodeSlots(slots).toString('hex'),
  }));
  await sql`
    with kept as (
      insert into recorder.health_latency (observer, node, probe, span, starts_at, entries)
      select ${observer}, u.node, u.probe, u.span, u.starts_at, decode(u.entries, 'hex')
      from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
        as u(node text, probe text, span text, starts_at timestamptz, entries text)
      on conflict (span, starts_at, observer, node, probe) do update set entries = excluded.entries)
    delete from recorder.health_latency where observer = ${observer} and span = 'week'
      and starts_at < ${new Date(weekOf(now) - WEEKS_KEPT * WEEK)} and starts_at <> all(${starts}::text[]::timestamptz[])`;
}

const EMPTY_HISTOGRAM: Histogram = new Map();
const keyOf = ({ node, probe, span, starts_at }: StoredSpan) =>
  [node, probe, span, starts_at.getTime()].join('\n');
/**
 * Returns the start of the week of a moment. Weeks are counted from 1970, so that they start on Thursdays.
 */
const weekOf = (at: number) => Math.floor(at / WEEK) * WEEK;

function monthOf(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}
