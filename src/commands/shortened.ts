import cliTruncate from 'cli-truncate';
import stringWidth from 'string-width';

/**
 * A text that is cut to a width, with … at its end. cli-truncate alone keeps a wide character of which half fits.
 * @param width in characters of the terminal, at least 1
 */
export function shortened(text: string, width: number): string {
  const cut = cliTruncate(text, width);
  return stringWidth(cut) <= width ? cut : cliTruncate(text, width - 1);
}
