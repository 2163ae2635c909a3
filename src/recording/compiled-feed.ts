import type { Feed } from '../datasets/contract.ts';
import { isUniqueViolation } from '../db/unique-violation.ts';
import { historyOf, newHistoryOf } from '../history/histories.ts';
import { buildCommit, type CommitPages } from './commit.ts';
import { buildDecoder, type Decoder } from './decode.ts';

/** A feed's commits and decoders. */
export interface CompiledFeed {
  readonly commit: CommitPages;
  /** As `commit`, at a smaller cost; it fails with `unique_violation` where a row of a log is recorded already. */
  readonly commitNew: CommitPages;
  readonly decoders: readonly Decoder[];
}

const compiled = new WeakMap<Feed, CompiledFeed>();

/** A feed's commits and decoders, made once a feed. */
export function compileFeed(feed: Feed): CompiledFeed {
  const before = compiled.get(feed);
  if (before) return before;
  const commit = buildCommit(feed, historyOf);
  const hasLog = feed.datasets.some(({ history }) => history === 'log');
  const commitNew = hasLog ? buildCommit(feed, newHistoryOf) : commit;
  const made = { commit, commitNew, decoders: feed.datasets.map(buildDecoder) };
  compiled.set(feed, made);
  return made;
}

/** The commits of one run that asks for what is not recorded yet. Once a row is known after all, rows are looked up. */
export function commitExpectingNew({ commit, commitNew }: CompiledFeed): CommitPages {
  let expectsNew = true;
  return async (bulk, pages) => {
    if (expectsNew)
      try {
        return await commitNew(bulk, pages);
      } catch (error) {
        if (!isUniqueViolation(error)) throw error;
        expectsNew = false;
      }
    return commit(bulk, pages);
  };
}
