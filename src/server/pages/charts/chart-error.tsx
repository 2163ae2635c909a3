import { isoOf } from '../../../reporting/relations/values.ts';
import { momentText } from '../texts.ts';
import type { Drawing } from './chart-data.ts';
import { chartLink } from './link.ts';
import type { DrawnLine } from './read-lines.ts';
import { chartOf } from './zoom.tsx';

/**
 * Says what of the window is not drawn because a page has no time to read it, and where it is. The island `charts` asks for it and
 * adds it to the lines.
 * @param before where what is drawn begins
 */
export function Unread({
  drawing,
  lines,
  before,
}: {
  readonly drawing: Drawing;
  readonly lines: readonly DrawnLine[];
  readonly before: Date;
}) {
  if (before >= drawing.window[1])
    return (
      <p class="soft">
        Even the newest part of this window takes longer to read than a page may take. Ask for a shorter
        window, or for fewer lines.
      </p>
    );
  // Up to the first points that are drawn: how far apart they are from those before them tells whether some are missing.
  const joins = Math.max(before.getTime(), ...lines.map(({ points }) => (points[0]?.[0] ?? 0) + 1));
  const asked = chartOf(drawing);
  // The same lines, of hours or days as here.
  const things = { ...asked.things, ...thingsOf(drawing, lines) };
  const rest = chartLink({ ...asked, things, by: drawing.grain, to: new Date(joins) });
  return (
    <p class="soft" data-unread={before.getTime()}>
      This is drawn from {momentText(before)} on: to read all of the window takes longer than a page may take.{' '}
      <a href={rest}>The part before</a>
    </p>
  );
}

/** What lines are of, by column, as an address tells it; a column that is empty in one of them cannot be told. */
function thingsOf({ drawable }: Drawing, lines: readonly DrawnLine[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    drawable.keys.flatMap(({ name, type }) => {
      const values = lines.flatMap(({ of }) => of[name] ?? []);
      const isTold =
        lines.length > 0 && values.length === lines.length && !values.some((one) => one.includes(','));
      const texts = type === 'timestamptz' ? values.map(isoOf) : values;
      return isTold ? [[name, [...new Set(texts)].join(',')]] : [];
    }),
  );
}
