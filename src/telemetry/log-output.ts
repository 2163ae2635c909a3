import { write, writeSync } from 'node:fs';
import type { Clock } from '../lib/clock.ts';

/** Maximum number of buffered characters while the reader is slow; further lines are lost. */
const MAX_BUFFERED_CHARACTERS = 8 << 20;
/** Retry interval for a full non-blocking pipe, in ms. */
const RETRY_INTERVAL_MS = 50;
/** Maximum number of retries when the process ends. */
const MAX_EXIT_ATTEMPTS = 40;

/** Number of lost lines, and the time of the first. */
interface LostLines {
  readonly lines: number;
  /** Time of the first lost line, in ms since 1970. */
  readonly since: number;
}

/**
 * Writer of lines to a file descriptor, which never blocks or ends the process. Lines that cannot be written
 * are lost (full disk, closed terminal, reader that exited), and the next lines are tried. The number of lost
 * lines is written before the next line that can be written. Pino's own destination would emit an error for a
 * line that it cannot write, which ends the process. While the process ends, that destination retries the
 * rest forever, so that only SIGKILL ends the process.
 */
export class LogOutput {
  readonly #fd: number;
  readonly #now: Clock;
  readonly #formatReport: (lines: number, since: number) => string;
  #waiting = '';
  /** Bytes that were taken from the buffer and are not written yet. */
  #inFlight = NOTHING;
  #isWriting = false;
  /** True if the last write ended within a line. */
  #isWithin = false;
  /** Lost lines that were not reported yet. */
  #lost: LostLines | null = null;
  /** The lost lines whose report is being written; the report is in `#inFlight`. */
  #reported: LostLines | null = null;
  #allLost = 0;

  /** @param formatReport returns the line that reports lost lines, with its line end */
  constructor(fd: number, now: Clock, formatReport: (lines: number, since: number) => string) {
    this.#fd = fd;
    this.#now = now;
    this.#formatReport = formatReport;
    process.on('exit', () => this.#writeLast());
  }

  /** The number of lines that were lost since the output was opened. */
  get lost(): number {
    return this.#allLost;
  }

  /** Writes one line, with its line end. */
  write(line: string): void {
    if (this.#waiting.length + line.length <= MAX_BUFFERED_CHARACTERS) this.#waiting += line;
    else this.#lose(1);
    if (this.#inFlight.length === 0) this.#next();
  }

  /**
   * Writes the report of lost lines, or else the buffered lines. A report is never written alone: a report
   * that cannot be written is retried with the next line.
   */
  #next(): void {
    if (this.#waiting === '') return;
    this.#reported = this.#lost;
    this.#lost = null;
    this.#inFlight = Buffer.from(this.#reported ? this.#lineOf(this.#reported) : this.#waiting);
    if (!this.#reported) this.#waiting = '';
    this.#write();
  }

  readonly #write = (): void => {
    this.#isWriting = true;
    write(this.#fd, this.#inFlight, (error, written) => {
      this.#isWriting = false;
      if (error?.code === 'EAGAIN') {
        setTimeout(this.#write, RETRY_INTERVAL_MS);
        return;
      }
      if (error) this.#giveUp();
      else this.#written(written);
      if (this.#inFlight.length > 0) this.#write();
      else this.#next();
    });
  };

  #written(bytes: number): void {
    if (bytes > 0) this.#isWithin = this.#inFlight[bytes - 1] !== END;
    this.#inFlight = this.#inFlight.subarray(bytes);
    if (this.#inFlight.length === 0) this.#reported = null;
  }

  #giveUp(): void {
    if (this.#reported) {
      this.#lost = { lines: this.#reported.lines + (this.#lost?.lines ?? 0), since: this.#reported.since };
      this.#reported = null;
      this.#lose(linesIn(Buffer.from(this.#waiting)));
      this.#waiting = '';
    } else this.#lose(linesIn(this.#inFlight));
    this.#inFlight = NOTHING;
  }

  #lose(lines: number): void {
    if (lines === 0) return;
    this.#allLost += lines;
    this.#lost = { lines: lines + (this.#lost?.lines ?? 0), since: this.#lost?.since ?? this.#now() };
  }

  /**
   * Returns the report of lost lines. If only the start of the last line was written, the report starts with a
   * line end.
   */
  #lineOf({ lines, since }: LostLines): string {
    return `${this.#isWithin ? '\n' : ''}${this.#formatReport(lines, since)}`;
  }

  /**
   * Writes the remaining bytes when the process ends, when no more callbacks run. The write in progress
   * completes outside of this code.
   */
  #writeLast(): void {
    let rest = Buffer.concat([
      this.#isWriting ? NOTHING : this.#inFlight,
      Buffer.from(this.#waiting + (this.#lost ? this.#lineOf(this.#lost) : '')),
    ]);
    for (let attempts = 0; rest.length > 0 && attempts < MAX_EXIT_ATTEMPTS; ) {
      try {
        rest = rest.subarray(writeSync(this.#fd, rest));
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) return;
        attempts += 1;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_INTERVAL_MS);
      }
    }
  }
}

const NOTHING = Buffer.alloc(0);
const END = 0x0a;

const linesIn = (text: Buffer) => text.reduce((lines, byte) => (byte === END ? lines + 1 : lines), 0);
