/** Durations, in ms. */
export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;
export const week = 7 * day;
/** 30 days. */
export const month = 30 * day;
/**
 * Maximum known lag of a healthy index behind its chain (outages of 24 hours and of two days are documented,
 * upstream-services.md#freshness), plus one day, in ms. Newer items are recorded, but not claimed as covered.
 */
export const MAX_INDEX_LAG_MS = 3 * day;
