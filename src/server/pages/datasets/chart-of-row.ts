import type { ReadableDataset } from '../../../reporting/relations/catalogue.ts';
import type { Row } from '../../../reporting/relations/rows.ts';
import { drawables } from '../charts/drawables.ts';
import { chartLink } from '../charts/link.ts';

const DAY = 86_400_000;
/** How much of the time around a point is drawn, by a metric's interval, days on either side. */
const AROUND: Readonly<Record<string, number>> = { hour: 7, day: 45, week: 180, month: 730 };
/** The same of what holds for long, and of others. */
const HOLDS = 45;
const OTHERS = 7;

/**
 * The chart of the numbers that a row is one of, around its moment; null: its dataset has none, or the row does not say of what it is.
 * @param asOf the moment of knowledge; null: now
 * @param beside a second one, drawn over the first
 */
export function chartOfRow(
  { name }: ReadableDataset,
  row: Row,
  asOf: string | null,
  beside: string | null = null,
): string | null {
  const drawable = drawables.get(name);
  if (!drawable) return null;
  const at = Date.parse(String(row[drawable.time.name]));
  const things = drawable.keys.flatMap((column) => {
    const value = row[column.name];
    return value === undefined || value === null ? [] : [[column.name, String(value)] as const];
  });
  const told = new Map(things);
  if (Number.isNaN(at) || drawable.needed.some((column) => !told.has(column))) return null;
  const around = (AROUND[String(row.time_interval)] ?? (drawable.ends ? HOLDS : OTHERS)) * DAY;
  return chartLink({
    of: name,
    things: Object.fromEntries(told),
    from: new Date(at - around),
    to: new Date(at + around),
    asOf,
    beside,
  });
}
