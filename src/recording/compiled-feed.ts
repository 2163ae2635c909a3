import type { Feed } from '../datasets/contract.ts';
import { buildCommit, type CommitPages } from './commit.ts';
import { buildDecoder, type Decode } from './decode.ts';

/** A feed's commit and decoders. */
export interface CompiledFeed {
  readonly commit: CommitPages;
  readonly decoders: readonly Decode[];
}

const compiled = new WeakMap<Feed, CompiledFeed>();

/** A feed's commit and decoders, made once a feed. */
export function compileFeed(feed: Feed): CompiledFeed {
  const before = compiled.get(feed);
  if (before) return before;
  const made = { commit: buildCommit(feed), decoders: feed.datasets.map(buildDecoder) };
  compiled.set(feed, made);
  return made;
}
