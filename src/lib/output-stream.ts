import { localTime } from './local-time.ts';

/** Stream for results: stdout, or another stream in a test. */
export interface Out extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  /** Characters in a line of the terminal; 0 if the terminal does not report it. */
  readonly columns?: number;
}

/** Returns the maximum number of characters in a line. Returns null if the stream is not a terminal. */
export function widthOf(out: Out): number | null {
  return out.isTTY ? out.columns || 80 : null;
}

/** Formats a moment: local time on a terminal, UTC (ISO 8601) elsewhere. */
export function timeText(moment: Date, out: Out = process.stdout): string {
  return out.isTTY ? localTime(moment) : moment.toISOString().replace('.000Z', 'Z');
}
