import stringWidth from 'string-width';

/** Output stream of the block, usually a terminal. */
export interface TerminalStream extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** A function that renders the text of a block for the size of a terminal, in characters and lines. */
type RenderBlock = (columns: number, rows: number) => string;

/**
 * Escape sequence that saves the cursor position (DEC VT100). The sequences below restore that position and
 * erase (ECMA-48).
 */
const SAVE_CURSOR = '\u001b7';
const RESTORE_CURSOR = '\u001b8';
const CLEAR_BELOW = '\u001b[J';
const up = (lines: number) => (lines > 0 ? `\r\u001b[${lines}A` : '\r');
const down = (lines: number) => `\u001b[${lines}B`;
/**
 * Escape sequences of the start and end of a synchronized update. Output between these sequences appears at
 * once. Terminals without this feature ignore the sequences.
 */
const [HOLD, SHOW] = ['\u001b[?2026h', '\u001b[?2026l'];

/** Number of lines that are kept free below the block. */
const FREE_LINES = 4;

/**
 * Lines at the bottom of a terminal that are redrawn in place, below the permanent lines. The terminal itself
 * echoes the user's input, and this process is not notified. Reading keys would require another terminal
 * mode, which stops a background job. Therefore the start of the block is saved as the cursor position, and
 * {@link FREE_LINES} lines below the cursor are free. The block loses its position only if the user enters
 * more lines between two redraws. The cursor is never hidden, so the terminal needs no restore when the
 * process ends for any reason.
 */
export class LiveBlock {
  readonly #out: TerminalStream;
  #lay: RenderBlock | null = null;
  #text = '';

  constructor(out: TerminalStream) {
    this.#out = out;
  }

  /**
   * Draws the block in place of the previous block, and draws the block again when the terminal is resized.
   */
  show(lay: RenderBlock): void {
    const isFirst = this.#lay === null;
    this.#lay = lay;
    if (isFirst) {
      this.#out.on('resize', this.#resized);
      process.once('exit', this.#ended);
    }
    this.#layOut(lay);
    this.#out.write(`${HOLD}${isFirst ? '' : RESTORE_CURSOR}${this.#drawn()}${SHOW}`);
  }

  /** Writes a permanent line above the block. */
  line(text: string): void {
    this.#out.write(
      this.#lay === null
        ? `${text}\n`
        : `${HOLD}${RESTORE_CURSOR}${CLEAR_BELOW}${text}\n${this.#drawn()}${SHOW}`,
    );
  }

  /** Erases the block. */
  end(): void {
    if (this.#lay === null) return;
    this.#lay = null;
    this.#out.off('resize', this.#resized);
    process.off('exit', this.#ended);
    this.#out.write(`${RESTORE_CURSOR}${CLEAR_BELOW}`);
  }

  #layOut(lay: RenderBlock): void {
    this.#text = lay(this.#out.columns || 80, this.#out.rows || 24);
  }

  /**
   * Returns the sequence that draws the block from the cursor position and leaves the cursor on the line
   * below the block.
   */
  #drawn(): string {
    const lines = this.#text.split('\n').length;
    const free = Math.max(0, Math.min(FREE_LINES, (this.#out.rows || 24) - lines - 1));
    const below = '\n'.repeat(1 + free);
    return `${CLEAR_BELOW}${this.#text}${below}${up(lines + free)}${SAVE_CURSOR}${down(lines)}`;
  }

  /**
   * Redraws after a resize. A narrower terminal wraps lines, so that the block has more lines than were
   * written. Lines that then scroll out of view cannot be erased.
   */
  readonly #resized = () => {
    if (this.#lay === null) return;
    const columns = this.#out.columns || 80;
    const lines = this.#text.split('\n').map((line) => Math.max(1, Math.ceil(stringWidth(line) / columns)));
    const height = lines.reduce((sum, one) => sum + one, 0);
    this.#layOut(this.#lay);
    this.#out.write(`${HOLD}${up(height)}${this.#drawn()}${SHOW}`);
  };

  /** Erases the block at exit, so that the error that ends this process is not written over the block. */
  readonly #ended = () => this.end();
}

/** The block on stderr, the stream of the log. Log lines are written above the block. */
export const stderrBlock = new LiveBlock(process.stderr);
