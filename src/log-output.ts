import { write, writeSync } from 'node:fs';

/** What waits while the reader is slow, in characters; lines beyond it are lost. */
const MOST_WAITING = 8 << 20;
/** A pipe that is full, and does not let a writer wait, is tried again so much later; ms. */
const PAUSE = 50;
/** So often when the process ends. */
const LAST_ATTEMPTS = 40;

/**
 * Writes lines to a file descriptor, and never makes the process wait or end: where they cannot be written (a disk that is full, a
 * terminal or a reader that is gone) they are lost, and the next ones are tried. pino's own destination emits an error then, which ends
 * the process, and tries without end to write the rest as the process ends: it stands still instead, and no signal but SIGKILL ends it.
 */
export class LogOutput {
  readonly #fd: number;
  #waiting = '';
  /** Taken from what waits, and not written yet. */
  #taken = NOTHING;
  #isWriting = false;

  constructor(fd: number) {
    this.#fd = fd;
    process.on('exit', () => this.#writeLast());
  }

  write(text: string): void {
    if (this.#waiting.length + text.length <= MOST_WAITING) this.#waiting += text;
    if (this.#taken.length === 0) this.#next();
  }

  #next(): void {
    this.#taken = Buffer.from(this.#waiting);
    this.#waiting = '';
    if (this.#taken.length > 0) this.#write();
  }

  readonly #write = (): void => {
    this.#isWriting = true;
    write(this.#fd, this.#taken, (error, written) => {
      this.#isWriting = false;
      if (error?.code === 'EAGAIN') {
        setTimeout(this.#write, PAUSE);
        return;
      }
      this.#taken = error ? NOTHING : this.#taken.subarray(written);
      if (this.#taken.length > 0) this.#write();
      else this.#next();
    });
  };

  /** No callback comes any more. What is being written at this moment has its end elsewhere. */
  #writeLast(): void {
    let rest = Buffer.concat([this.#isWriting ? NOTHING : this.#taken, Buffer.from(this.#waiting)]);
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
