import { listChartSources } from '../../../reporting/relations/chart-sources.ts';

export const drawables = listChartSources();

const all = [...drawables.values()];

/** Names of the parameters that select the lines of a chart, for all chart sources. */
export const lineParameters: readonly string[] = [
  ...new Set(
    all.flatMap(({ keys, takes }) => [...keys.map(({ name }) => name), ...takes.map(({ name }) => name)]),
  ),
];

export const byHeading: readonly (readonly [heading: string, drawables: typeof all])[] = [
  ...new Set(all.map(({ heading }) => heading)),
].map((heading) => [heading, all.filter((one) => one.heading === heading)]);
