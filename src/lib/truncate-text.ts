import cliTruncate from 'cli-truncate';
import stringWidth from 'string-width';

/**
 * A text that is cut to a width, with … at its end. cli-truncate alone keeps a wide character of which half fits, and counts one column
 * for a grapheme of several characters, each of which takes its own.
 * @param width in characters of the terminal, at least 1
 */
export function shortened(text: string, width: number): string {
  for (let most = width; ; most -= 1) {
    const cut = cliTruncate(text, most);
    if (most <= 1 || stringWidth(cut) <= width) return cut;
  }
}
