import { metricParts, scrapeFamilies } from '../../src/server/metrics/metrics.ts';

/** Returns the names of every series that `/metrics` declares; histograms with their suffixes. */
export const declaredSeries: ReadonlySet<string> = new Set(
  [...scrapeFamilies, ...metricParts.flatMap(({ families }) => families)].flatMap(({ name, type }) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((ending) => name + ending) : [name],
  ),
);

/** Returns the recorder's series in an expression, without those of recording rules (`a:b:c`). */
export const seriesIn = (expression: string): string[] =>
  [...expression.matchAll(/(?<![\w:])(node_up|chain_recorder_\w+)(?![\w:])/g)].map(([name]) => name);
