import { formatLocalTime } from './local-time.ts';

/** Stream for results: stdout, or another stream in a test. */
export interface OutputStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  /** Number of characters in a line of the terminal; 0 if the terminal does not report this number. */
  readonly columns?: number;
}

/** Returns the maximum number of characters in a line. Returns null if the stream is not a terminal. */
export function getTerminalWidth(out: OutputStream): number | null {
  return out.isTTY ? out.columns || 80 : null;
}

/** Formats a moment: local time on a terminal, UTC (ISO 8601) elsewhere. */
export function formatTime(moment: Date, out: OutputStream = process.stdout): string {
  return out.isTTY ? formatLocalTime(moment) : moment.toISOString().replace('.000Z', 'Z');
}
