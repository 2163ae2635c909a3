import { write, writeSync } from 'node:fs';
import type { Clock } from '../lib/clock.ts';

/** What waits while the reader is slow, in characters; lines beyond it are lost. */
const MOST_WAITING = 8 << 20;
/** A pipe that is full, and does not let a writer wait, is tried again so much later; ms. */
const PAUSE = 50;
/** So often when the process ends. */
const LAST_ATTEMPTS = 40;

/** Lines that were lost. */
interface Lost {
  readonly lines: number;
  /** When the first was, ms since 1970. */
  readonly since: number;
}

/**
 * Writes lines to a file descriptor, and never makes the process wait or end: where they cannot be written (a disk that is full, a
 * terminal or a reader that is gone) they are lost, and the next ones are tried. The first that can be written again comes behind one that
 * says how many were lost. pino's own destination emits an error then, which ends the process, and tries without end to write the rest as
 * the process ends: it is stalled instead, and no signal but SIGKILL ends it.
 */
export class LogOutput {
  readonly #fd: number;
  readonly #now: Clock;
  readonly #telling: (lines: number, since: number) => string;
  #waiting = '';
  /** Taken from what waits, and not written yet. */
  #taken = NOTHING;
  #isWriting = false;
  /** What was written last ends within a line. */
  #isWithin = false;
  /** What nobody was told of yet. */
  #lost: Lost | null = null;
  /** What is being told: it is taken. */
  #told: Lost | null = null;
  #allLost = 0;

  /** @param telling the line that tells of lines that were lost, with its end */
  constructor(fd: number, now: Clock, telling: (lines: number, since: number) => string) {
    this.#fd = fd;
    this.#now = now;
    this.#telling = telling;
    process.on('exit', () => this.#writeLast());
  }

  /** How many lines were lost since it was opened. */
  get lost(): number {
    return this.#allLost;
  }

  /** Takes one line, with its end. */
  write(line: string): void {
    if (this.#waiting.length + line.length <= MOST_WAITING) this.#waiting += line;
    else this.#lose(1);
    if (this.#taken.length === 0) this.#next();
  }

  /** What was lost is told before what waits, and never alone: where it cannot be told, it is tried again with the next line. */
  #next(): void {
    if (this.#waiting === '') return;
    this.#told = this.#lost;
    this.#lost = null;
    this.#taken = Buffer.from(this.#told ? this.#lineOf(this.#told) : this.#waiting);
    if (!this.#told) this.#waiting = '';
    this.#write();
  }

  readonly #write = (): void => {
    this.#isWriting = true;
    write(this.#fd, this.#taken, (error, written) => {
      this.#isWriting = false;
      if (error?.code === 'EAGAIN') {
        setTimeout(this.#write, PAUSE);
        return;
      }
      if (error) this.#giveUp();
      else this.#written(written);
      if (this.#taken.length > 0) this.#write();
      else this.#next();
    });
  };

  #written(bytes: number): void {
    if (bytes > 0) this.#isWithin = this.#taken[bytes - 1] !== END;
    this.#taken = this.#taken.subarray(bytes);
    if (this.#taken.length === 0) this.#told = null;
  }

  #giveUp(): void {
    if (this.#told) {
      this.#lost = { lines: this.#told.lines + (this.#lost?.lines ?? 0), since: this.#told.since };
      this.#told = null;
      this.#lose(linesIn(Buffer.from(this.#waiting)));
      this.#waiting = '';
    } else this.#lose(linesIn(this.#taken));
    this.#taken = NOTHING;
  }

  #lose(lines: number): void {
    if (lines === 0) return;
    this.#allLost += lines;
    this.#lost = { lines: lines + (this.#lost?.lines ?? 0), since: this.#lost?.since ?? this.#now() };
  }

  /** A line of which only the begin was written has no end. */
  #lineOf({ lines, since }: Lost): string {
    return `${this.#isWithin ? '\n' : ''}${this.#telling(lines, since)}`;
  }

  /** No callback comes any more. What is being written at this moment has its end elsewhere. */
  #writeLast(): void {
    let rest = Buffer.concat([
      this.#isWriting ? NOTHING : this.#taken,
      Buffer.from(this.#waiting + (this.#lost ? this.#lineOf(this.#lost) : '')),
    ]);
    for (let attempts = 0; rest.length > 0 && attempts < LAST_ATTEMPTS; ) {
      try {
        rest = rest.subarray(writeSync(this.#fd, rest));
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) return;
        attempts += 1;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE);
      }
    }
  }
}

const NOTHING = Buffer.alloc(0);
const END = 0x0a;

const linesIn = (text: Buffer) => text.reduce((lines, byte) => (byte === END ? lines + 1 : lines), 0);
