import type { Feed, Window } from '../datasets/contract.ts';
import type { Row } from '../history/rows.ts';
import type { SetAside } from './set-aside.ts';

/** What was read and waits for the next commit. */
export interface PageBuffer {
  readonly rows: Row[][];
  /** The items that the rows came from. */
  readonly sources: unknown[][];
  /** The same rows by natural key, a map a dataset: one statement takes a key once. */
  readonly byKey: Map<string, Row>[];
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
  items: datasets.map(() => 0),
  quarantined: [],
  pages: 0,
  rowCount: 0,
  proven: null,
});
