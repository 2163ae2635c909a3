import cliTruncate from 'cli-truncate';
import stringWidth from 'string-width';

/**
 * Truncates a text to a width, with … at its end. Works around two bugs of cli-truncate, which keeps a wide
 * character even if only half of the character fits, and counts a grapheme as one column even if each of its
 * characters occupies a column.
 * @param width maximum width, in terminal columns, at least 1
 */
export function truncateText(text: string, width: number): string {
  for (let most = width; ; most -= 1) {
    const cut = cliTruncate(text, most);
    if (most <= 1 || stringWidth(cut) <= width) return cut;
  }
}
