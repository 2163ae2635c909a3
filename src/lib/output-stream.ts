import { localTime } from './local-time.ts';

/** Where results are printed: stdout, or another stream in a test. */
export interface Out extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  /** How many characters a line of the terminal has; 0: the terminal does not know. */
  readonly columns?: number;
}

/** How many characters fit into a line; null: any number, because it is no terminal. */
export function widthOf(out: Out): number | null {
  return out.isTTY ? out.columns || 80 : null;
}

/** A moment as it is printed: local on a terminal, and in UTC (ISO 8601) elsewhere. */
export function timeText(moment: Date, out: Out = process.stdout): string {
  return out.isTTY ? localTime(moment) : moment.toISOString().replace('.000Z', 'Z');
}
