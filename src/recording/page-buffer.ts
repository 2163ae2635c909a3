import type { Feed, Window } from '../datasets/contract.ts';
import type { EncodedRow } from './histories/rows.ts';
import type { Link } from './identity/chain-continuity.ts';
import { canRetire } from './proof.ts';
import type { QuarantinedItem } from './quarantined-item.ts';
import { type DecodedRow, SeenRows } from './seen-rows.ts';

/** Rows and items for the next commit. */
export interface PageBuffer {
  pages: number;
  /** One list per dataset. */
  rows: readonly DecodedRow[][];
  /** Rows of each dataset by natural key: of the whole run if rows may be retired, else of this commit. */
  readonly seenRows: readonly SeenRows[];
  readonly items: number[];
  readonly quarantined: QuarantinedItem[];
  /** Rows with the keys of quarantined items whose key could be read, one list per dataset. */
  readonly quarantinedKeys: readonly EncodedRow[][];
  rowCount: number;
  proven: Window | null;
  /** Links of the rows of each dataset that is a chain. Empty for others. */
  readonly links: readonly Link[][];
  /** Height of the newest entry of the upstream. Null: unknown. */
  head: number | null;
}

/**
 * Returns a buffer without pages.
 * @param before the buffer that is being committed; undefined at the start of the run
 */
export const emptyBuffer = (feed: Feed, before?: PageBuffer): PageBuffer => ({
  pages: 0,
  rows: feed.datasets.map(() => []),
  seenRows: feed.datasets.map(
    (_, at) => (canRetire(feed, at) ? before?.seenRows[at] : undefined) ?? new SeenRows(),
  ),
  items: feed.datasets.map(() => 0),
  quarantined: [],
  quarantinedKeys: feed.datasets.map(() => []),
  rowCount: 0,
  proven: null,
  links: feed.datasets.map(() => []),
  head: null,
});

/**
 * Splits rows into the parts of a commit, in storage order. A statement can write a key only once. So the
 * first part contains the first row of each key, and each following part contains the next row of each
 * repeated key.
 */
export function splitByKeyRepetition<T extends { readonly decoded: DecodedRow }>(parts: readonly T[]): T[][] {
  const turns: T[][] = [];
  const turnOf = new Map<DecodedRow, number>();
  for (const part of parts) {
    const { after } = part.decoded;
    const turn = after === null ? 0 : (turnOf.get(after) ?? 0) + 1;
    if (turn > 0) turnOf.set(part.decoded, turn);
    const sameTurn = turns[turn];
    if (sameTurn) sameTurn.push(part);
    else turns[turn] = [part];
  }
  return turns;
}
