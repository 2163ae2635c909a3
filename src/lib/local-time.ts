const two = (number: number) => String(number).padStart(2, '0');

/**
 * Formats a moment in the local time zone of this machine, with the offset, such as `2026-11-22
 * 04:52:55+01:00`, or `2026-11-22 03:52:55Z` in UTC. Commands accept this format as input. Fractions of a
 * second are omitted.
 * @param fraction digits of the second with their point, such as `.125`. Default: no fraction.
 */
export function formatLocalTime(moment: Date, fraction = ''): string {
  const year = String(moment.getFullYear()).padStart(4, '0');
  const day = [year, two(moment.getMonth() + 1), two(moment.getDate())].join('-');
  return `${day} ${formatTimeOfDay(moment)}${fraction}${offsetOf(moment)}`;
}

/** Formats the local time of day, such as `04:52:55`. */
export function formatTimeOfDay(moment: Date): string {
  return [moment.getHours(), moment.getMinutes(), moment.getSeconds()].map(two).join(':');
}

/**
 * Formats the offset of the local zone from UTC at a moment, in ISO 8601, such as `+01:00`, `-03:30` or `Z`.
 */
function offsetOf(moment: Date): string {
  const minutes = -moment.getTimezoneOffset();
  if (minutes === 0) return 'Z';
  const [ahead, size] = [minutes > 0, Math.abs(minutes)];
  return `${ahead ? '+' : '-'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
