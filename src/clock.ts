/** Where the recorder takes the time from: milliseconds since 1970. Tests pass their own. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();
