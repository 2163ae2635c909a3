import { toIsoTime } from '../../../reporting/relations/values.ts';
import { momentText } from '../texts.ts';
import type { ChartRequest } from './chart-data.ts';
import { chartLink } from './link.ts';
import type { DrawnLine } from './read-lines.ts';
import { chartOf } from './zoom.tsx';

/**
 * The notice that a part of the window was not read in time, with a link to that part. The island `charts`
 * fetches it and adds it to the lines.
 * @param before start of the part that is drawn
 */
export function UnreadNotice({
  drawing,
  lines,
  before,
}: {
  readonly drawing: ChartRequest;
  readonly lines: readonly DrawnLine[];
  readonly before: Date;
}) {
  if (before >= drawing.window[1])
    return (
      <p class="soft">
        Even the newest part of this window takes too long to read for a page. Choose a shorter window or
        fewer lines.
      </p>
    );
  // The part extends to the first points that are drawn, because the distance to their predecessors
  // determines whether there is a gap.
  const joins = Math.max(before.getTime(), ...lines.map(({ points }) => (points[0]?.[0] ?? 0) + 1));
  const asked = chartOf(drawing);
  // The same lines with the same grain.
  const things = { ...asked.things, ...thingsOf(drawing, lines) };
  const rest = chartLink({ ...asked, things, by: drawing.grain, to: new Date(joins) });
  return (
    <p class="soft" data-unread={before.getTime()}>
      The chart starts at {momentText(before)}: reading the whole window exceeds the time limit of a page.{' '}
      <a href={rest}>Show the earlier part</a>
    </p>
  );
}

/**
 * Returns the keys of the lines by column, for a URL. Omits columns that are empty for a line, or contain a
 * comma.
 */
function thingsOf({ drawable }: ChartRequest, lines: readonly DrawnLine[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    drawable.keys.flatMap(({ name, type }) => {
      const values = lines.flatMap(({ of }) => of[name] ?? []);
      const isTold =
        lines.length > 0 && values.length === lines.length && !values.some((one) => one.includes(','));
      const texts = type === 'timestamptz' ? values.map(toIsoTime) : values;
      return isTold ? [[name, [...new Set(texts)].join(',')]] : [];
    }),
  );
}
