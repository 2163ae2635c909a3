import type { Clock } from '../../src/lib/clock.ts';

/** A clock that stands still until a test moves it, also backwards. */
export class ManualClock {
  now: number;

  constructor(start: number) {
    this.now = start;
  }

  readonly read: Clock = () => this.now;
}
