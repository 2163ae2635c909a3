import { momentText } from '../texts.ts';
import type { Drawing } from './drawing.ts';
import { chartLink } from './link.ts';
import type { DrawnLine } from './read-lines.ts';
import { chartOf } from './zoom.tsx';

/**
 * Says what of the window is not drawn because it has too many points for one page, and where it is. The island `charts` asks for it and
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
  // Up to the first points that are drawn: how far apart they are from those before them tells whether some are missing.
  const joins = Math.max(before.getTime(), ...lines.map(({ points }) => (points[0]?.[0] ?? 0) + 1));
  const rest = chartLink({ ...chartOf(drawing), to: new Date(joins) });
  return (
    <p class="soft" data-unread={before.getTime()}>
      This is drawn from {momentText(before)} on: the window has more points than are read for one page.{' '}
      <a href={rest}>The part before</a>
    </p>
  );
}
