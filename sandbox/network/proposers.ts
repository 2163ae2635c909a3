import type { Period } from './periods.ts';
import { HORIZON } from './periods.ts';
import { coreSeats } from './validators.ts';

/**
 * Rounds (inclusive start, exclusive end) in which one seat proposes the same slots, after `before` earlier
 * blocks.
 */
interface Segment {
  readonly from: number;
  readonly to: number;
  readonly slots: readonly number[];
  readonly before: number;
}

/**
 * The proposer of each block. Each round of blocks has one slot for every seat. If a seat does not validate
 * during a whole pair of rounds, its slots belong to one of the core seats. So every height has a proposer
 * that validates at that time, and the i-th block of a seat is found without counting.
 */
export class Proposers {
  readonly seats: number;
  readonly #core: number;
  readonly #active: readonly (readonly Period[])[];
  readonly #lastPair: number;
  readonly #segments = new Map<number, readonly Segment[]>();

  constructor(memberships: readonly (readonly Period[])[], genesisSec: number, roundSec: number) {
    this.seats = memberships.length;
    this.#core = coreSeats(this.seats);
    this.#lastPair = Math.floor(HORIZON / (2 * roundSec));
    const pair = (sec: number): number => (sec - genesisSec) / (2 * roundSec);
    this.#active = memberships.map((list) =>
      list.map(({ start, end }) => ({
        start: Math.max(0, Math.ceil(pair(start))),
        end: Math.floor(pair(end)),
      })),
    );
  }

  #isActive(seat: number, pair: number): boolean {
    if (seat < this.#core) return true;
    return (this.#active[seat] ?? []).some(({ start, end }) => start <= pair && pair < end);
  }

  /** Returns the seat that proposed a height. */
  seatOf(height: number): number {
    const slot = height % this.seats;
    const pair = Math.floor(height / this.seats / 2);
    return this.#isActive(slot, pair) ? slot : slot % this.#core;
  }

  /** Returns the number of blocks that a seat proposes before the horizon. */
  total(seat: number): number {
    const last = this.#of(seat).at(-1);
    return last === undefined ? 0 : last.before + (last.to - last.from) * last.slots.length;
  }

  /** Returns the height of the i-th block (from 0) of a seat. */
  height(seat: number, i: number): number {
    const segments = this.#of(seat);
    let low = 0;
    let high = segments.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((segments[middle]?.before ?? 0) <= i) low = middle;
      else high = middle - 1;
    }
    const segment = segments[low];
    if (segment === undefined) throw new RangeError(`seat ${seat} proposes no block ${i}`);
    const offset = i - segment.before;
    const slot = segment.slots[offset % segment.slots.length] ?? 0;
    return (segment.from + Math.floor(offset / segment.slots.length)) * this.seats + slot;
  }

  #of(seat: number): readonly Segment[] {
    const cached = this.#segments.get(seat);
    if (cached !== undefined) return cached;
    const segments = this.#lay(seat);
    this.#segments.set(seat, segments);
    return segments;
  }

  #lay(seat: number): Segment[] {
    const candidates = [seat];
    if (seat < this.#core) {
      for (let slot = this.#core; slot < this.seats; slot += 1)
        if (slot % this.#core === seat) candidates.push(slot);
    }
    const edges = new Set([0, this.#lastPair]);
    for (const slot of candidates) {
      for (const { start, end } of this.#active[slot] ?? []) edges.add(start).add(end);
    }
    const sorted = [...edges].filter((pair) => pair >= 0 && pair <= this.#lastPair).sort((a, b) => a - b);
    const segments: Segment[] = [];
    let before = 0;
    for (const [i, pair] of sorted.entries()) {
      const next = sorted[i + 1];
      if (next === undefined) break;
      const slots = candidates
        .filter((slot) => (slot === seat) === this.#isActive(slot, pair))
        .sort((a, b) => a - b);
      if (slots.length === 0) continue;
      segments.push({ from: pair * 2, to: next * 2, slots, before });
      before += (next - pair) * 2 * slots.length;
    }
    return segments;
  }
}
