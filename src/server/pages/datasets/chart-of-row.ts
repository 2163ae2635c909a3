import type { ReadableDataset } from '../../../reporting/relations/catalogue.ts';
import type { Row } from '../../../reporting/relations/rows.ts';
import { drawables } from '../charts/drawables.ts';
import { chartLink } from '../charts/link.ts';

const DAY = 86_400_000;
/** Days before and after a point that its chart contains, by the interval of the metric. */
const DAYS_BY_INTERVAL: Readonly<Record<string, number>> = { hour: 7, day: 45, week: 180, month: 730 };
/** Days before and after for points with a validity, and for all others. */
const VALIDITY_DAYS = 45;
const DEFAULT_DAYS = 7;

/**
 * Returns the URL of the chart of a row's line, around the time of the row. Returns null if the dataset has
 * no chart, or the row lacks the key of the line.
 * @param asOf the moment of the record; null for now
 * @param beside a second moment, drawn over the first one
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
  const values = new Map(things);
  if (Number.isNaN(at) || drawable.needed.some((column) => !values.has(column))) return null;
  const around =
    (DAYS_BY_INTERVAL[String(row.time_interval)] ?? (drawable.ends ? VALIDITY_DAYS : DEFAULT_DAYS)) * DAY;
  return chartLink({
    of: name,
    things: Object.fromEntries(values),
    from: new Date(at - around),
    to: new Date(at + around),
    asOf,
    beside,
  });
}
