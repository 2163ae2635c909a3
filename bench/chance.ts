import { encodeCb58 } from '../src/lib/cb58.ts';

/** A generator of numbers from 0 to 1, the same in every run. */
export function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Random values of a simulation, the same in every run. */
export class Chance {
  /** From 0 to 1. */
  readonly share: () => number;

  constructor(seed: number) {
    this.share = numbers(seed);
  }

  /** A whole number, both ends included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.share() * (max - min + 1));
  }

  /** A time until an event that happens once in `mean` on average. */
  waiting(mean: number): number {
    return -mean * Math.log(1 - this.share());
  }

  /** The number of events that happen `mean` times on average; for small means. */
  times(mean: number): number {
    let count = -1;
    for (let remaining = mean; remaining >= 0; count++) remaining += Math.log(1 - this.share());
    return count;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.between(0, 255)));
  }

  /** `0x` and the digits of this many bytes. */
  hex(length: number): string {
    return `0x${this.bytes(length).toString('hex')}`;
  }

  /** An id as the network writes those of transactions and blockchains. */
  id(): string {
    return encodeCb58(this.bytes(32));
  }

  nodeId(): string {
    return `NodeID-${encodeCb58(this.bytes(20))}`;
  }

  /** An address as long as the network's are. */
  address(): string {
    const letters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
    return `P-avax1${Array.from({ length: 38 }, () => letters[this.between(0, 31)]).join('')}`;
  }
}
