/** Durations in milliseconds. */
export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;
export const week = 7 * day;
/** 30 days. */
export const month = 30 * day;
/**
 * The longest that a healthy index is known to trail its chain (stalls of 24 hours and of two days are documented,
 * reality.md 5.4 and 5.13), and one day more: what is younger is recorded, but not claimed as covered.
 */
export const TRAILS = 3 * day;
