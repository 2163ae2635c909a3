import type { QueryResult } from '../../run-query.ts';
import type { Line, LineChartProps } from '../parts/line-chart.tsx';

/** Maximum number of lines of one chart. */
const MAX_LINES = 8;

/**
 * Returns the lines of a result: each numeric column over the first time column, one line for each
 * combination of texts.
 * @returns the reason if there are no lines
 */
export function answerLines(
  columns: QueryResult['columns'],
  rows: readonly (readonly (string | null)[])[],
): LineChartProps | { readonly why: string } {
  const indexes = (kind: string) => columns.flatMap((column, at) => (column.kind === kind ? [at] : []));
  const [time] = indexes('time');
  const numbers = indexes('number');
  if (time === undefined || numbers.length === 0)
    return { why: 'A chart needs a column of times and a column of numbers. The table has all there is.' };
  const texts = indexes('text');
  const lines = new Map<string, { label: string; points: [number, string | null][] }>();
  for (const row of rows) {
    const at = momentOf(row[time] ?? null);
    if (at === null) continue;
    const of = texts.map((one) => row[one] ?? '').join(' ');
    for (const number of numbers) {
      const label = [of, numbers.length > 1 || of === '' ? (columns[number]?.name ?? '') : '']
        .filter(Boolean)
        .join(' ');
      const line = lines.get(label) ?? { label, points: [] };
      lines.set(label, line);
      line.points.push([at, row[number] ?? null]);
    }
    if (lines.size > MAX_LINES)
      return {
        why: `There are more than ${MAX_LINES} lines: ask for fewer columns of numbers and texts, or for fewer things.`,
      };
  }
  const drawnLines: Line[] = [...lines.values()].map(({ label, points }) => ({
    label,
    points: points.sort(([one], [other]) => one - other),
  }));
  return { lines: drawnLines, title: 'The answer over time', window: null };
}

/**
 * Parses a time as PostgreSQL writes it into JSON, in UTC if there is no zone. Returns ms since 1970, or null
 * if it is not a moment, such as infinity.
 */
function momentOf(text: string | null): number | null {
  if (text === null) return null;
  const at = Date.parse(/T.*(Z|[+-]\d\d:\d\d)$|^[^T]*$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(at) ? null : at;
}
