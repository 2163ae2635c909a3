import type { Dataset, Feed, History } from '../datasets/contract.ts';
import { isUniqueViolation } from '../db/unique-violation.ts';
import { buildCommit, type CommitPages } from './commit.ts';
import { buildDecoder, type Decoder } from './decode.ts';
import type { WriteHistory } from './histories/batch.ts';
import { writeLog } from './histories/log-history.ts';
import { writeSeries, writeState } from './histories/versioned-history.ts';
import { writeSample } from './readings/sample-history.ts';

const histories: Readonly<Record<History, WriteHistory>> = {
  series: writeSeries,
  log: writeLog,
  state: writeState,
  sample: writeSample,
};

/** Returns the history writer of a dataset. */
const historyOf = ({ history }: Dataset): WriteHistory => histories[history];

/** The commit function and the decoders of a feed. */
export interface CompiledFeed {
  /**
   * Commits pages. Fails with a unique violation if a row of a log was considered new but exists already;
   * {@link createRunCommit} retries the commit.
   */
  readonly commit: CommitPages;
  readonly decoders: readonly Decoder[];
}

const compiledFeeds = new WeakMap<Feed, CompiledFeed>();

/** Returns the commit function and the decoders of a feed, which are built once per feed. */
export function compileFeed(feed: Feed): CompiledFeed {
  const before = compiledFeeds.get(feed);
  if (before) return before;
  const compiled = { commit: buildCommit(feed, historyOf), decoders: feed.datasets.map(buildDecoder) };
  compiledFeeds.set(feed, compiled);
  return compiled;
}

/**
 * Returns the commit function of one run. If a row of a log was considered new but exists already, the commit
 * is repeated, and from then on all rows are looked up.
 */
export function createRunCommit({ commit }: CompiledFeed): CommitPages {
  let looksUp = false;
  return async (sql, pages) => {
    if (!looksUp)
      try {
        return await commit(sql, pages);
      } catch (error) {
        if (!isUniqueViolation(error)) throw error;
        looksUp = true;
      }
    return commit(sql, { ...pages, shouldLookUp: looksUp });
  };
}
