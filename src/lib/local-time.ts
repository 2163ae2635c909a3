const two = (number: number) => String(number).padStart(2, '0');

/**
 * A moment as people on this machine read it, with the offset of their zone: `2026-11-22 04:52:55+01:00`, in UTC
 * `2026-11-22 03:52:55Z`. Commands take it as it is printed. Parts of a second are left out.
 * @param fraction the digits of the second with their point, where they matter, such as `.125`
 */
export function localTime(moment: Date, fraction = ''): string {
  const year = String(moment.getFullYear()).padStart(4, '0');
  const day = [year, two(moment.getMonth() + 1), two(moment.getDate())].join('-');
  return `${day} ${timeOfDay(moment)}${fraction}${offsetOf(moment)}`;
}

/** The time of day on this machine: `04:52:55`. */
export function timeOfDay(moment: Date): string {
  return [moment.getHours(), moment.getMinutes(), moment.getSeconds()].map(two).join(':');
}

/** How far this machine's zone is ahead of UTC at that moment, as ISO 8601 has it: `+01:00`, `-03:30`, `Z`. */
function offsetOf(moment: Date): string {
  const minutes = -moment.getTimezoneOffset();
  if (minutes === 0) return 'Z';
  const [ahead, size] = [minutes > 0, Math.abs(minutes)];
  return `${ahead ? '+' : '-'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
