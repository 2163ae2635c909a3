import { createLogUpdate } from 'log-update';

/** What is written to. */
export interface Screen extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** Some lines at the bottom of a terminal that are written anew in place, below the lines that stay. */
export class LiveBlock {
  readonly #out: Screen;
  readonly #update: ReturnType<typeof createLogUpdate>;
  #text: string | null = null;

  constructor(out: Screen) {
    this.#out = out;
    // The cursor stays: whatever ends this process, the terminal is as it was.
    this.#update = createLogUpdate(out, { showCursor: true });
  }

  /** Shows the block, in place of the one before. */
  show(text: string): void {
    this.#text = text;
    this.#update(text);
  }

  /** Writes a line that stays, above the block. */
  line(text: string): void {
    if (this.#text === null) {
      this.#out.write(`${text}\n`);
      return;
    }
    this.#update.clear();
    this.#out.write(`${text}\n`);
    this.#update(this.#text);
  }

  /** Takes the block away. */
  end(): void {
    if (this.#text === null) return;
    this.#text = null;
    this.#update.clear();
    this.#update.done();
  }
}

/** The block on stderr, where the log is written: the log writes its lines above it. */
export const stderrBlock = new LiveBlock(process.stderr);
