/** Characters that a terminal acts on instead of showing: control characters, and those that change the text direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text that is safe to show on a terminal: control characters are escaped as in JSON, line ends too. */
export function printable(text: string): string {
  return text.replaceAll(OBEYED, escaped);
}

/** A text of several lines, such as JSON or a page, safe to show on a terminal: {@link printable}, line by line. */
export function printableLines(text: string): string {
  return text.replaceAll(OBEYED, (character) => (character === '\n' ? character : escaped(character)));
}

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
