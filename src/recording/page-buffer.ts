import type { Feed, Window } from '../datasets/contract.ts';
import type { Row } from '../history/rows.ts';
import type { SetAside } from './set-aside.ts';

/** Rows and items that wait for the next commit. */
export interface PageBuffer {
  readonly rows: Row[][];
  /** The items that the rows came from. */
  readonly sources: unknown[][];
  /** The last rows by natural key, a map a dataset. */
  readonly byKey: Map<string, Row>[];
  /** Rows that contradict an earlier row of the same key, with that row. */
  readonly after: Map<Row, Row>;
  readonly items: number[];
  readonly quarantined: SetAside[];
  pages: number;
  rowCount: number;
  proven: Window | null;
}

export const emptyBuffer = ({ datasets }: Feed): PageBuffer => ({
  rows: datasets.map(() => []),
  sources: datasets.map(() => []),
  byKey: datasets.map(() => new Map()),
  after: new Map(),
  items: datasets.map(() => 0),
  quarantined: [],
  pages: 0,
  rowCount: 0,
  proven: null,
});

/**
 * Splits rows into the parts of a commit, in the order in which they are stored. One statement can write a key once, so
 * the first part has the first row of each key, the next part the next row.
 * @param after see {@link PageBuffer.after}
 */
export function inTurns<T extends { readonly row: Row }>(
  parts: readonly T[],
  after: ReadonlyMap<Row, Row>,
): T[][] {
  const turns: T[][] = [];
  const turnOf = new Map<Row, number>();
  for (const part of parts) {
    const earlier = after.get(part.row);
    const turn = earlier ? (turnOf.get(earlier) ?? 0) + 1 : 0;
    if (earlier) turnOf.set(part.row, turn);
    const sameTurn = turns[turn];
    if (sameTurn) sameTurn.push(part);
    else turns[turn] = [part];
  }
  return turns;
}
