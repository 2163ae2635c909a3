import cliTruncate from 'cli-truncate';
import stringWidth from 'string-width';

/**
 * Truncates a text to a width, with … at its end.
 * Works around two bugs of cli-truncate: it keeps a wide character of which half fits, and counts one column
 * for a grapheme of several characters that occupy a column each.
 * @param width in terminal columns, at least 1
 */
export function truncateText(text: string, width: number): string {
  for (let most = width; ; most -= 1) {
    const cut = cliTruncate(text, most);
    if (most <= 1 || stringWidth(cut) <= width) return cut;
  }
}
