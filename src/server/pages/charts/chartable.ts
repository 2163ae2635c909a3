import { catalogueOf, type ReadableDataset } from '../../../api/catalogue.ts';
import { type SeriesSource, seriesOf } from '../../../api/series.ts';

/** A dataset whose numbers can be drawn over time. */
export interface Chartable {
  readonly dataset: ReadableDataset;
  readonly source: SeriesSource;
}

/**
 * The datasets that can be drawn, by name: points and readings, whose spacing is known, so that a gap can be told from a rare
 * change. Lists and logs are drawn by the ready questions, which count them by day.
 */
export const chartables: ReadonlyMap<string, Chartable> = new Map(
  [...catalogueOf().datasets.values()].flatMap((dataset): [string, Chartable][] => {
    const source = dataset.kind === 'series' || dataset.kind === 'sample' ? seriesOf(dataset) : null;
    return source ? [[dataset.name, { dataset, source }]] : [];
  }),
);

/** The columns that tell one line from another, of all of them. */
export const thingColumns: readonly string[] = [
  ...new Set([...chartables.values()].flatMap(({ source }) => source.needed)),
];
