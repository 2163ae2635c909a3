import { catalogNames } from '../app/configured-feeds.ts';
import { UsageError } from '../lib/errors.ts';
import { exactInstantIn, INSTANT_EXAMPLE, instantIn, microsecondsIn } from '../lib/instant.ts';
import { nearestName } from '../lib/nearest-name.ts';
import type { Watched } from '../recording/active-feed.ts';
import { recordedNamed } from '../reporting/recorded-datasets.ts';

/** Which of them records a dataset; undefined: none of them. */
export function oneOf<Some extends Watched>(watched: readonly Some[], dataset: string): Some | undefined {
  return watched.find(({ datasets }) => datasets.some(({ name }) => name === dataset));
}

/** Which of the names that there are was probably meant by one that is none of them. */
export function namesThere(name: string, names: readonly string[]): string {
  const meant = nearestName(name, names);
  return `${meant === undefined ? '' : `did you mean ${meant}? `}there are ${names.join(', ')}`;
}

/** Says that there is no such dataset, which was probably meant, and which there are. */
export function noDataset(dataset: string): string {
  return `DATASET: there is no dataset "${dataset}"; ${namesThere(dataset, catalogNames.datasets)}`;
}

/** The one that records a dataset. @throws UsageError when there is no such dataset or the configuration leaves it out */
export function feedOf<Feed extends Watched>(feeds: readonly Feed[], dataset: string): Feed {
  if (!recordedNamed(dataset)) throw new UsageError([noDataset(dataset)]);
  const feed = oneOf(feeds, dataset);
  if (!feed)
    throw new UsageError([
      `datasets.${dataset}: the configuration does not record it: it is disabled, or its upstream is missing`,
    ]);
  return feed;
}

/**
 * The span of `--from` and `--to`, in ms since 1970; null: no bound.
 * @throws UsageError when a time is wrong, or both, or the span is empty
 */
export function spanOf({ from, to }: { from?: string | undefined; to?: string | undefined }): {
  from: number | null;
  to: number | null;
} {
  const [begin, end] = both(
    () => (from === undefined ? null : instantOf('--from', from)),
    () => (to === undefined ? null : instantOf('--to', to)),
  );
  if (from !== undefined && to !== undefined && (microsecondsIn(from) ?? 0) >= (microsecondsIn(to) ?? 0))
    throw new UsageError([`--from ${from}: must be before --to`]);
  return { from: begin, to: end };
}

/** A time from the command line, in ms since 1970; without a zone it is UTC. @throws UsageError when it is none */
export function instantOf(option: string, text: string): number {
  return instantIn(text) ?? noInstant(option, text);
}

/** As {@link instantOf}, to the microsecond: as PostgreSQL reads it. @throws UsageError when it is none */
export const exactInstantOf = (option: string, text: string): string =>
  exactInstantIn(text) ?? noInstant(option, text);

function noInstant(option: string, text: string): never {
  throw new UsageError([`${option} ${text}: must be a time such as ${INSTANT_EXAMPLE}`]);
}

/** What both read. @throws UsageError with the problems of both, so that a person mends them at once */
export function both<One, Other>(one: () => One, other: () => Other): [One, Other] {
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

/** The begin of the month that a moment is in; ms since 1970. */
export function monthOf(moment: number): number {
  const begin = new Date(moment);
  begin.setUTCDate(1);
  return begin.setUTCHours(0, 0, 0, 0);
}
