import { type LineAtMoment, thingOf } from './known-line.ts';

/**
 * Finds the points of a line that differ between two moments of the record.
 * @returns ms since 1970, by line
 */
export function markDifferences(all: readonly LineAtMoment[]): ReadonlyMap<LineAtMoment, readonly number[]> {
  const byThing = new Map<string, LineAtMoment[]>();
  for (const known of all) {
    const thing = thingOf(known);
    byThing.set(thing, [...(byThing.get(thing) ?? []), known]);
  }
  const marks = new Map<LineAtMoment, number[]>();
  for (const [one, other] of byThing.values()) {
    if (!one || !other) continue;
    const values = new Map(one.line.points);
    const differing = other.line.points.flatMap(([at, value]) => {
      const before = values.get(at);
      return value !== null && before !== undefined && before !== null && before !== value
        ? [Date.parse(at)]
        : [];
    });
    marks.set(one, differing).set(other, differing);
  }
  return marks;
}
