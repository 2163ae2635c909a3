import { uptime } from 'node:os';

/** Source of the current time, in ms since 1970. Tests pass their own. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/**
 * Monotonic clock: ms since the machine booted, sleep included. Changes of the wall clock do not affect it.
 */
export const steadyClock: Clock = () => Math.round(uptime() * 1000);
