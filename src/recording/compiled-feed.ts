import type { Feed } from '../datasets/contract.ts';
import { isUniqueViolation } from '../db/unique-violation.ts';
import { buildCommit, type CommitPages } from './commit.ts';
import { buildDecoder, type Decoder } from './decode.ts';
import { historyOf } from './histories/histories.ts';

/** A feed's commits and decoders. */
export interface CompiledFeed {
  /** Fails where a row of a log is known that it took for new; {@link commitsOf} makes it again. */
  readonly commit: CommitPages;
  readonly decoders: readonly Decoder[];
}

const compiled = new WeakMap<Feed, CompiledFeed>();

/** A feed's commits and decoders, made once a feed. */
export function compileFeed(feed: Feed): CompiledFeed {
  const before = compiled.get(feed);
  if (before) return before;
  const made = { commit: buildCommit(feed, historyOf), decoders: feed.datasets.map(buildDecoder) };
  compiled.set(feed, made);
  return made;
}

/**
 * The commits of one run. Where a row of a log was taken for new that is known, that commit is made again, and all rows are looked up
 * from then on.
 */
export function commitsOf({ commit }: CompiledFeed): CommitPages {
  let looksUp = false;
  return async (sql, pages) => {
    if (!looksUp)
      try {
        return await commit(sql, pages);
      } catch (error) {
        if (!isUniqueViolation(error)) throw error;
        looksUp = true;
      }
    return commit(sql, { ...pages, looksUp });
  };
}
