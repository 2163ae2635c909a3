import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import { createLogUpdate } from 'log-update';
import stringWidth from 'string-width';

/** What is written to. */
export interface Screen extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** Makes the text of a block for a terminal of some size, in characters and lines. */
type Lay = (columns: number, rows: number) => string;

/** Some lines at the bottom of a terminal that are written anew in place, below the lines that stay. */
export class LiveBlock {
  readonly #out: Screen;
  readonly #update: ReturnType<typeof createLogUpdate>;
  #lay: Lay | null = null;
  #text = '';

  constructor(out: Screen) {
    this.#out = out;
    // The cursor stays: whatever ends this process, the terminal is as it was.
    this.#update = createLogUpdate(out, { showCursor: true });
  }

  /** Shows the block, in place of the one before, and again when the terminal gets another size. */
  show(lay: Lay): void {
    if (this.#lay === null) this.#out.on('resize', this.#resized);
    this.#lay = lay;
    this.#draw(lay);
  }

  /** Writes a line that stays, above the block. */
  line(text: string): void {
    if (this.#lay === null) {
      this.#out.write(`${text}\n`);
      return;
    }
    this.#update.clear();
    this.#out.write(`${text}\n`);
    this.#update(this.#text);
  }

  /** Takes the block away. */
  end(): void {
    if (this.#lay === null) return;
    this.#lay = null;
    this.#out.off('resize', this.#resized);
    this.#update.clear();
    this.#update.done();
  }

  #draw(lay: Lay): void {
    this.#text = lay(this.#out.columns || 80, this.#out.rows || 24);
    this.#update(this.#text);
  }

  /**
   * A terminal that is made narrower breaks lines, so that the block has more of them than were written. What it moves out
   * of sight by that cannot be taken away any more.
   */
  readonly #resized = () => {
    if (this.#lay === null) return;
    const columns = this.#out.columns || 80;
    const lines = this.#text.split('\n').map((line) => Math.max(1, Math.ceil(stringWidth(line) / columns)));
    const height = lines.reduce((sum, one) => sum + one, 0);
    moveCursor(this.#out, 0, -height);
    cursorTo(this.#out, 0);
    clearScreenDown(this.#out);
    this.#update.done(); // it forgets what it wrote
    this.#draw(this.#lay);
  };
}

/** The block on stderr, where the log is written: the log writes its lines above it. */
export const stderrBlock = new LiveBlock(process.stderr);
