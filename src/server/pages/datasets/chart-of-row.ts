import type { ReadableDataset } from '../../../api/catalogue.ts';
import type { Row } from '../../../api/rows.ts';
import { chartables } from '../charts/chartable.ts';
import { chartLink } from '../charts/link.ts';

const DAY = 86_400_000;
/** How much of the time around a point is drawn, by a metric's interval, days on either side. */
const AROUND: Readonly<Record<string, number>> = { hour: 7, day: 45, week: 180, month: 730 };
const OTHERS = 7;

/**
 * The chart of the numbers that a row is one of, around its moment; null: its dataset has none, or the row does not say of what it is.
 * @param asOf the moment of knowledge; null: now
 * @param beside a second one, drawn over the first
 */
export function chartOfRow(
  { name }: ReadableDataset,
  row: Row,
  asOf: Date | null,
  beside: Date | null = null,
): string | null {
  const source = chartables.get(name)?.source;
  if (!source) return null;
  const at = Date.parse(String(row[source.time]));
  const things = source.needed.map((column) => [column, row[column]] as const);
  if (Number.isNaN(at) || things.some(([, value]) => value === undefined || value === null)) return null;
  const around = (AROUND[String(row.time_interval)] ?? OTHERS) * DAY;
  return chartLink({
    of: name,
    things: Object.fromEntries(things.map(([column, value]) => [column, String(value)])),
    from: new Date(at - around),
    to: new Date(at + around),
    asOf,
    beside,
  });
}
