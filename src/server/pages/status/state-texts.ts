import type { UptimeBounds, WindowStates } from '../../../reporting/reports/nodes/windows.ts';
import { uptimeIn } from '../../../reporting/reports/nodes/windows.ts';
import { percentText, spanText } from '../../../reporting/reports/uptime.ts';
import { momentText } from '../texts.ts';

const DAY = 86_400_000;

/** Formats a window: `2026-11-22`, or its start and end if it is not a whole day. */
export function windowText({ from, to }: { readonly from: number; readonly to: number }): string {
  const [begin, end] = [new Date(from), new Date(to)];
  if (from % DAY === 0 && to - from <= DAY) {
    const day = begin.toISOString().slice(0, 10);
    return to - from === DAY ? day : `${day} until ${minuteText(end).slice(11)}`;
  }
  if (from % DAY === 0 && to % DAY === 0)
    return `${begin.toISOString().slice(0, 10)} to ${end.toISOString().slice(0, 10)}`;
  const same = begin.toISOString().slice(0, 10) === end.toISOString().slice(0, 10);
  return `${minuteText(begin)} to ${same ? minuteText(end).slice(11) : minuteText(end)}`;
}

const minuteText = (at: Date) => momentText(at).slice(0, at.getTime() % 60_000 === 0 ? 16 : 19);

/** Describes the states of a window: `2026-11-22: up 23 h 50 min, down 10 min 0 s`. */
export function stateWords(window: WindowStates): string {
  const parts = (['up', 'down', 'maintenance', 'unknown'] as const)
    .filter((state) => window[state] > 0)
    .map((state) => `${state} ${spanText(window[state])}`);
  if (window.unrecorded > 0) parts.push(`no record ${spanText(window.unrecorded)}`);
  return `${windowText(window)}: ${parts.join(', ')}`;
}

/**
 * Formats the uptime of a window: `99.987 %`. Unknown time is not counted; {@link boundsText} formats the
 * bounds.
 */
export function uptimeText(window: WindowStates): string {
  const { uptime } = uptimeIn(window);
  if (uptime !== null) return percentText(uptime);
  return window.unrecorded * 1000 >= window.to - window.from ? 'no record' : 'unknown';
}

/**
 * Formats the bounds of an uptime: `99.1 to 99.9 %`. Returns null if the uptime is exact or completely
 * unknown.
 */
export function boundsText(window: WindowStates): string | null {
  const { least, most }: UptimeBounds = uptimeIn(window);
  if (least === null || most === null || window.unknown === 0) return null;
  return `${percentText(least).replace(' %', '')} to ${percentText(most)}`;
}

/** Summarizes all windows in one sentence for screen readers. */
export function summaryWords(windows: readonly WindowStates[]): string {
  const count = (state: 'down' | 'unknown' | 'maintenance') => windows.filter((one) => one[state] > 0).length;
  const recorded = windows.filter((one) => one.up + one.down + one.maintenance + one.unknown > 0);
  if (recorded.length === 0) return 'no record';
  const clean = recorded.filter((one) => one.down + one.unknown + one.maintenance === 0).length;
  return (
    `${recorded.length} with a record: ${clean} fully up, ${count('down')} with downtime, ` +
    `${count('unknown')} with unknown time, ${count('maintenance')} with maintenance`
  );
}
