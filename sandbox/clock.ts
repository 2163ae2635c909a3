/** The simulated time: Unix time in milliseconds. */
export type Clock = () => number;

/** The time of the machine. */
export function realClock(): Clock {
  return () => Date.now();
}

/** A clock that starts at startMs and runs `speed` times as fast as the machine's. */
export function acceleratedClock(startMs: number, speed: number): Clock {
  const begun = performance.now();
  return () => Math.floor(startMs + (performance.now() - begun) * speed);
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
