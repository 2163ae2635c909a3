import type { Feed } from '../datasets/catalog.ts';
import { buildCommit, type CommitPages } from './commit.ts';
import { buildDecoder, type Decode } from './decode.ts';

/** A feed's commit and decoders. */
export interface Compiled {
  readonly commit: CommitPages;
  readonly decoders: readonly Decode[];
}

const compiled = new WeakMap<Feed, Compiled>();

/** A feed's commit and decoders, made once a feed. */
export function compile(feed: Feed): Compiled {
  const before = compiled.get(feed);
  if (before) return before;
  const made = { commit: buildCommit(feed), decoders: feed.datasets.map(buildDecoder) };
  compiled.set(feed, made);
  return made;
}
