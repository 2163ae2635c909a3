/** Formats a duration in ms, such as 90000 as `90s` and 3600000 as `1h`. */
export function formatDuration(milliseconds: number): string {
  for (const [unit, length] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
  ] as const)
    if (milliseconds % length === 0) return `${milliseconds / length}${unit}`;
  return `${milliseconds / 1000}s`;
}
