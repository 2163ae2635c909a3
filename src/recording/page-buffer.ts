import type { Feed, Window } from '../datasets/contract.ts';
import type { Rows } from '../history/rows.ts';
import { noKeys, noRows } from '../history/writing.ts';
import type { Link } from '../identity/chain-continuity.ts';
import { retires } from './proof.ts';
import type { SetAside } from './set-aside.ts';
import { TakenItems } from './taken-items.ts';

/** Rows and items that wait for the next commit. */
export interface PageBuffer {
  rows: readonly Rows[];
  /** The bodies of its pages, read again. */
  readonly bodies: (() => unknown)[];
  /** The items by natural key, of each dataset: of this commit, or of the whole run where rows may be retired. */
  readonly taken: readonly TakenItems[];
  /** How many of them were taken by earlier commits. */
  readonly takenBefore: readonly number[];
  /** Items contradict earlier items of the same key: one statement can write a key once. */
  contradicts: boolean;
  readonly items: number[];
  readonly quarantined: SetAside[];
  /** The keys of those of them whose key could be read, of each dataset. */
  readonly quarantinedKeys: readonly Rows[];
  rowCount: number;
  proven: Window | null;
  /** Of each dataset that is a chain: the links of its rows; of any other: none. */
  readonly links: readonly Link[][];
  /** The height of the newest entry that the upstream has; null: unknown. */
  head: number | null;
}

/** @param before the one that is committed; absent: the run begins */
export function emptyBuffer(feed: Feed, before?: PageBuffer): PageBuffer {
  const taken = feed.datasets.map(
    (_, at) => (retires(feed, at) ? before?.taken[at] : undefined) ?? new TakenItems(),
  );
  return {
    rows: feed.datasets.map(noRows),
    bodies: [],
    taken,
    takenBefore: taken.map(({ size }) => size),
    contradicts: false,
    items: feed.datasets.map(() => 0),
    quarantined: [],
    quarantinedKeys: feed.datasets.map(noKeys),
    rowCount: 0,
    proven: null,
    links: feed.datasets.map(() => []),
    head: null,
  };
}

/**
 * Splits items into the parts of a commit, in the order in which they are stored. One statement can write a key once, so
 * the first part has the first item of each key, the next part the next item.
 * @param after items that contradict an earlier item of the same key, with that item
 */
export function inTurns<T extends { readonly item: unknown }>(
  parts: readonly T[],
  after: ReadonlyMap<unknown, unknown>,
): T[][] {
  const turns: T[][] = [];
  const turnOf = new Map<unknown, number>();
  for (const part of parts) {
    const earlier = after.get(part.item);
    const turn = earlier === undefined ? 0 : (turnOf.get(earlier) ?? 0) + 1;
    if (turn > 0) turnOf.set(part.item, turn);
    const sameTurn = turns[turn];
    if (sameTurn) sameTurn.push(part);
    else turns[turn] = [part];
  }
  return turns;
}
