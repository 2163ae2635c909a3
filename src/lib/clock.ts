import { uptime } from 'node:os';

/** Where the recorder takes the time from: milliseconds since 1970. Tests pass their own. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Milliseconds since the machine started, sleep included. It does not change when the wall clock is set. */
export const steadyClock: Clock = () => Math.round(uptime() * 1000);
