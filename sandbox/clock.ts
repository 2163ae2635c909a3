/** A function that returns the simulated time, in ms since 1970. */
export type Clock = () => number;

/** Returns a clock with the time of the machine. */
export function realClock(): Clock {
  return () => Date.now();
}

/** Returns a clock that starts at startMs and runs `speed` times as fast as the clock of the machine. */
export function acceleratedClock(startMs: number, speed: number): Clock {
  const startedMs = performance.now();
  return () => Math.floor(startMs + (performance.now() - startedMs) * speed);
}

/** A clock that is stopped until it is advanced. */
export class ManualClock {
  #nowMs: number;

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  readonly now: Clock = () => this.#nowMs;

  /** Moves the clock by ms milliseconds, which may be negative. */
  readonly advance = (ms: number): void => {
    this.#nowMs += ms;
  };
}
