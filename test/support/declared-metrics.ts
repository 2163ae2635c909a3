import { metricParts, scrapeFamilies } from '../../src/server/metrics/metrics.ts';

/** The names of every series that `/metrics` declares: of a histogram with its endings. */
export const declaredSeries: ReadonlySet<string> = new Set(
  [...scrapeFamilies, ...metricParts.flatMap(({ families }) => families)].flatMap(({ name, type }) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((ending) => name + ending) : [name],
  ),
);

/** The series of ours that an expression names, without those of recording rules (`a:b:c`). */
export const seriesIn = (expression: string): string[] =>
  [...expression.matchAll(/(?<![\w:])(node_up|chain_recorder_\w+)(?![\w:])/g)].map(([name]) => name);
