import type { Feed, Window } from '../datasets/contract.ts';
import type { Row } from './histories/rows.ts';
import type { Link } from './identity/chain-continuity.ts';
import { retires } from './proof.ts';
import type { SetAside } from './quarantined-item.ts';
import { type DecodedRow, SeenRows } from './seen-rows.ts';

/** Rows and items that wait for the next commit. */
export interface PageBuffer {
  pages: number;
  /** Of each dataset. */
  rows: readonly DecodedRow[][];
  /** The rows by natural key, of each dataset: of this commit, or of the whole run where rows may be retired. */
  readonly seen: readonly SeenRows[];
  readonly items: number[];
  readonly quarantined: SetAside[];
  /** Rows with the keys of those of them whose key could be read, of each dataset. */
  readonly quarantinedKeys: readonly Row[][];
  rowCount: number;
  proven: Window | null;
  /** Of each dataset that is a chain: the links of its rows; of any other: none. */
  readonly links: readonly Link[][];
  /** The height of the newest entry that the upstream has; null: unknown. */
  head: number | null;
}

/** @param before the one that is committed; absent: the run begins */
export const emptyBuffer = (feed: Feed, before?: PageBuffer): PageBuffer => ({
  pages: 0,
  rows: feed.datasets.map(() => []),
  seen: feed.datasets.map((_, at) => (retires(feed, at) ? before?.seen[at] : undefined) ?? new SeenRows()),
  items: feed.datasets.map(() => 0),
  quarantined: [],
  quarantinedKeys: feed.datasets.map(() => []),
  rowCount: 0,
  proven: null,
  links: feed.datasets.map(() => []),
  head: null,
});

/**
 * Splits rows into the parts of a commit, in the order in which they are stored. One statement can write a key once, so
 * the first part has the first row of each key, the next part the next row.
 */
export function inTurns<T extends { readonly decoded: DecodedRow }>(parts: readonly T[]): T[][] {
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
