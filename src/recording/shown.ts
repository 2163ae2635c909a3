import type { Page, Window } from '../datasets/contract.ts';
import type { Row, Rows } from '../history/rows.ts';
import { type Batch, type Belief, noKeys } from '../history/writing.ts';
import type { ActiveFeed } from './active-feed.ts';
import { retires } from './proof.ts';

/** What a walk has shown so far, from which follows what a dataset lacks and what of it is gone. */
export class Shown {
  readonly #datasets: readonly ShownOfDataset[];
  /** Why rows that the walk did not show may still exist; null: it showed all there is. */
  #unseen: string | null = 'the walk did not come to its end';
  #broken: string | null = null;

  constructor(feed: ActiveFeed) {
    this.#datasets = feed.datasets.map((dataset, at) => ({
      keys: noKeys(dataset),
      retires: retires(feed, at),
      believe: dataset.believe,
      unstored: 0,
      unknown: 0,
      moved: false,
    }));
  }

  /** A page whose items are all decoded. */
  page({ whole, last }: Page): void {
    if (!whole) this.#broken ??= 'the walk saw only a part, or had to start again';
    if (last) this.#unseen = this.#broken;
  }

  /** Its rows of one dataset. @param consistent false: one key came with two values */
  rows(at: number, rows: readonly Row[], consistent: boolean): void {
    const shown = this.#of(at);
    if (!consistent) shown.moved = true;
    if (shown.retires) for (const row of rows) shown.keys.add(row);
  }

  /** An item that went to the quarantine. @param key the key of its recorded row, which stays as it is; null: not to be read */
  setAside(at: number, key: Row | null): void {
    const shown = this.#of(at);
    shown.unstored += 1;
    if (!key) shown.unknown += 1;
    else if (shown.retires) shown.keys.add(key);
  }

  /** Why a dataset lacks something after a walk that did not fail, for a person; null: it has all there is. */
  incomplete(at: number): string | null {
    return whyIncomplete(this.#of(at)) ?? this.#unseen;
  }

  /** Which rows of a dataset are gone, because the walk did not show them; null: none can be told to be. */
  retire(at: number, window: Window | null): Batch['retire'] {
    const { keys, retires, believe, unknown, moved } = this.#of(at);
    const sawAll = unknown === 0 && !moved && this.#unseen === null;
    return retires && sawAll ? { seen: keys, window, believe } : null;
  }

  /** Gives the memory of the keys back. */
  end(): void {
    for (const { keys } of this.#datasets) keys.clear();
  }

  #of(at: number): ShownOfDataset {
    const shown = this.#datasets[at];
    if (!shown) throw new RangeError(`the feed has no dataset ${at}`);
    return shown;
  }
}

interface ShownOfDataset {
  /** The keys of the items that the whole walk showed, where rows may be retired; those that were set aside included. */
  readonly keys: Rows;
  readonly retires: boolean;
  readonly believe: Belief;
  /** Items that went to the quarantine: recorded rows with their keys stay as they are. */
  unstored: number;
  /** Those of them whose key could not be read. */
  unknown: number;
  /** One key came with two values. */
  moved: boolean;
}

function whyIncomplete({ unstored, unknown, moved }: ShownOfDataset): string | null {
  const items = (count: number) => (count === 1 ? '1 item' : `${count} items`);
  if (unknown > 0)
    return `${items(unknown)} whose key could not be read in the quarantine: nothing is retired`;
  if (moved) return 'one key came with two values: nothing is retired';
  if (unstored > 0) return `${items(unstored)} in the quarantine: what has their keys stays as it was`;
  return null;
}
