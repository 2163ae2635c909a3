import stringWidth from 'string-width';

/** What is written to. */
export interface Screen extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** Makes the text of a block for a terminal of some size, in characters and lines. */
type Lay = (columns: number, rows: number) => string;

/** What terminals obey (ECMA-48, and DEC's VT100 for the place of the cursor). */
const NOTE_PLACE = '\u001b7';
const TO_NOTED_PLACE = '\u001b8';
const CLEAR_BELOW = '\u001b[J';
const up = (lines: number) => (lines > 0 ? `\r\u001b[${lines}A` : '\r');
const down = (lines: number) => `\u001b[${lines}B`;
/** What is between the two is shown at once. Terminals that do not know them ignore them. */
const [HOLD, SHOW] = ['\u001b[?2026h', '\u001b[?2026l'];

/** So many lines below the block are kept free. */
const FREE = 4;

/**
 * Some lines at the bottom of a terminal that are written anew in place, below the lines that stay.
 *
 * What somebody types is shown by the terminal itself, and this process does not learn of it: it could read keys only by changing the
 * terminal, which stops a job in the background. So the begin of the block is noted in the terminal, and below the cursor, which stands
 * behind the block, some lines are free: only more lines than that, typed before the block is written again, move it from its place.
 * The cursor is always seen: whatever ends this process, the terminal is as it was.
 */
export class LiveBlock {
  readonly #out: Screen;
  #lay: Lay | null = null;
  #text = '';

  constructor(out: Screen) {
    this.#out = out;
  }

  /** Shows the block, in place of the one before, and again when the terminal gets another size. */
  show(lay: Lay): void {
    const isFirst = this.#lay === null;
    this.#lay = lay;
    if (isFirst) {
      this.#out.on('resize', this.#resized);
      process.once('exit', this.#ended);
    }
    this.#layOut(lay);
    this.#out.write(`${HOLD}${isFirst ? '' : TO_NOTED_PLACE}${this.#drawn()}${SHOW}`);
  }

  /** Writes a line that stays, above the block. */
  line(text: string): void {
    this.#out.write(
      this.#lay === null
        ? `${text}\n`
        : `${HOLD}${TO_NOTED_PLACE}${CLEAR_BELOW}${text}\n${this.#drawn()}${SHOW}`,
    );
  }

  /** Takes the block away. */
  end(): void {
    if (this.#lay === null) return;
    this.#lay = null;
    this.#out.off('resize', this.#resized);
    process.off('exit', this.#ended);
    this.#out.write(`${TO_NOTED_PLACE}${CLEAR_BELOW}`);
  }

  #layOut(lay: Lay): void {
    this.#text = lay(this.#out.columns || 80, this.#out.rows || 24);
  }

  /** The block from where the cursor is, which goes to the line below it. */
  #drawn(): string {
    const lines = this.#text.split('\n').length;
    const free = Math.max(0, Math.min(FREE, (this.#out.rows || 24) - lines - 1));
    const below = '\n'.repeat(1 + free);
    return `${CLEAR_BELOW}${this.#text}${below}${up(lines + free)}${NOTE_PLACE}${down(lines)}`;
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
    this.#layOut(this.#lay);
    this.#out.write(`${HOLD}${up(height)}${this.#drawn()}${SHOW}`);
  };

  /** What is told of an error that ends this process is not written over the block. */
  readonly #ended = () => this.end();
}

/** The block on stderr, where the log is written: the log writes its lines above it. */
export const stderrBlock = new LiveBlock(process.stderr);
