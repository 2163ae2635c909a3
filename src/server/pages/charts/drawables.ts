import { drawablesOf } from '../../../reporting/relations/chart-sources.ts';

/** What `/charts` can draw, by name. */
export const drawables = drawablesOf();

const all = [...drawables.values()];

/** The parameters that say what is drawn, of all of them. */
export const thingParameters: readonly string[] = [
  ...new Set(
    all.flatMap(({ keys, takes }) => [...keys.map(({ name }) => name), ...takes.map(({ name }) => name)]),
  ),
];

/** The headings, each with what is below it. */
export const byHeading: readonly (readonly [heading: string, drawables: typeof all])[] = [
  ...new Set(all.map(({ heading }) => heading)),
].map((heading) => [heading, all.filter((one) => one.heading === heading)]);
