import type { Clock } from '../../src/lib/clock.ts';

/** A clock that is stopped until a test moves it, also backwards. */
export class ManualClock {
  now: number;

  constructor(start: number) {
    this.now = start;
  }

  readonly read: Clock = () => this.now;
}
