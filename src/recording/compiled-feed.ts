import type { Feed } from '../datasets/contract.ts';
import { isUniqueViolation } from '../db/unique-violation.ts';
import { historyOf } from '../history/histories.ts';
import { buildCommit, type CommitPages } from './commit.ts';
import { buildDecoder, type Decoder } from './decode.ts';

/** A feed's commits and decoders. */
export interface CompiledFeed {
  readonly commit: CommitPages;
  readonly decoders: readonly Decoder[];
}

const compiled = new WeakMap<Feed, CompiledFeed>();

/** A feed's commits and decoders, made once a feed. */
export function compileFeed(feed: Feed): CompiledFeed {
  const before = compiled.get(feed);
  if (before) return before;
  const commit = buildCommit(feed, historyOf);
  const hasLog = feed.datasets.some(({ history }) => history === 'log');
  const made = { commit: hasLog ? lookingUp(commit) : commit, decoders: feed.datasets.map(buildDecoder) };
  compiled.set(feed, made);
  return made;
}

/** Makes a commit again where a row of a log that was taken for new is known. */
const lookingUp =
  (commit: CommitPages): CommitPages =>
  (bulk, pages) =>
    commit(bulk, pages).catch((error: unknown) => {
      if (!isUniqueViolation(error)) throw error;
      return commit(bulk, { ...pages, looksUp: true });
    });
