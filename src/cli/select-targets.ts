import { catalogNames } from '../app/configured-feeds.ts';
import type { Config } from '../config/schema.ts';
import { UsageError } from '../lib/errors.ts';
import { INSTANT_EXAMPLE, parseExactInstant, parseInstant, parseMicroseconds } from '../lib/instant.ts';
import { suggestNames } from '../lib/nearest-name.ts';
import type { ConfiguredFeed } from '../recording/active-feed.ts';
import { recordedNamed } from '../reporting/recorded-datasets.ts';

/** Returns the feed that records a dataset. Returns undefined if no feed does. */
export function findFeed<Some extends ConfiguredFeed>(
  watched: readonly Some[],
  dataset: string,
): Some | undefined {
  return watched.find(({ datasets }) => datasets.some(({ name }) => name === dataset));
}

/** Returns the error for an unknown dataset, with the nearest name. */
export function unknownDatasetText(dataset: string): string {
  return `DATASET: there is no dataset "${dataset}"; ${suggestNames(dataset, catalogNames.datasets)}`;
}

/** Returns the error for an unknown node, with the nearest name. */
export function unknownNodeText(
  option: string,
  node: string,
  { upstreams }: Pick<Config, 'upstreams'>,
): string {
  const names = upstreams.nodes.map(({ name }) => name);
  return `${option} ${node}: the configuration has no such node; ${suggestNames(node, names)}`;
}

/**
 * Returns the feed that records a dataset.
 * @throws UsageError if there is no such dataset, or the configuration does not record it
 */
export function getFeed<Feed extends ConfiguredFeed>(feeds: readonly Feed[], dataset: string): Feed {
  if (!recordedNamed(dataset)) throw new UsageError([unknownDatasetText(dataset)]);
  const feed = findFeed(feeds, dataset);
  if (!feed)
    throw new UsageError([
      `datasets.${dataset}: is not recorded: the dataset is disabled, or its upstream is missing in recorder.yaml`,
    ]);
  return feed;
}

/**
 * Parses the range of `--from` (inclusive) and `--to` (exclusive), in ms since 1970; null for no bound.
 * @throws UsageError if one or both times are invalid, or the range is empty
 */
export function parseSpan({ from, to }: { from?: string | undefined; to?: string | undefined }): {
  from: number | null;
  to: number | null;
} {
  const [begin, end] = parseBoth(
    () => (from === undefined ? null : parseInstantOption('--from', from)),
    () => (to === undefined ? null : parseInstantOption('--to', to)),
  );
  if (
    from !== undefined &&
    to !== undefined &&
    (parseMicroseconds(from) ?? 0) >= (parseMicroseconds(to) ?? 0)
  )
    throw new UsageError([`--from ${from}: must be before --to`]);
  return { from: begin, to: end };
}

/**
 * Parses a time from the command line, in ms since 1970. Default time zone: UTC.
 * @throws UsageError if the text is not a time
 */
export function parseInstantOption(option: string, text: string): number {
  return parseInstant(text) ?? noInstant(option, text);
}

/**
 * Parses a time as {@link parseInstantOption}, with PostgreSQL's microsecond precision.
 * @throws UsageError if the text is not a time
 */
export const parseExactInstantOption = (option: string, text: string): string =>
  parseExactInstant(text) ?? noInstant(option, text);

function noInstant(option: string, text: string): never {
  throw new UsageError([`${option} ${text}: must be a time such as ${INSTANT_EXAMPLE}`]);
}

/**
 * Returns the results of two parsers.
 * @throws UsageError with the problems of both parsers, so that a person can fix all problems together
 */
export function parseBoth<One, Other>(one: () => One, other: () => Other): [One, Other] {
  const problems: string[] = [];
  const tried = <Read>(read: () => Read): { readonly read: Read } | null => {
    try {
      return { read: read() };
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      problems.push(...error.problems);
      return null;
    }
  };
  const [first, second] = [tried(one), tried(other)];
  if (!first || !second) throw new UsageError(problems);
  return [first.read, second.read];
}

/** Returns the start of the month (UTC) that contains a moment, in ms since 1970. */
export function startOfMonth(moment: number): number {
  const begin = new Date(moment);
  begin.setUTCDate(1);
  return begin.setUTCHours(0, 0, 0, 0);
}
