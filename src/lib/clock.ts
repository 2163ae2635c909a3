import { uptime } from 'node:os';

/** Source of the current time, in ms since 1970. Tests pass a different source. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/**
 * Monotonic clock: time since the machine booted, including sleep, in ms. Changes of the wall clock have no
 * effect.
 */
export const steadyClock: Clock = () => Math.round(uptime() * 1000);
