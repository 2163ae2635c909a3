/**
 * Upstream text made safe for each medium: what a reader of the medium would obey instead of show is escaped, so that it stays visible.
 */

/**
 * Characters that act instead of being shown: control characters, line and paragraph separators, marks and overrides of the text
 * direction, invisible characters of no width, annotations, tags, and lone surrogates.
 */
const ACTING =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

const escaped = (character: string) =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');

/** Returns a text that is safe on a terminal: acting characters are escaped as in JSON, line ends too. */
export function printable(text: string): string {
  return text.replaceAll(ACTING, escaped);
}

/** As {@link printable}, for a text of several lines, such as JSON: line ends stay. */
export function printableLines(text: string): string {
  return text.replaceAll(ACTING, (character) => (character === '\n' ? character : escaped(character)));
}

/** Returns a whole HTML document in which texts cannot act: line ends and tabs, which are space in HTML, stay. */
export function safeDocument(html: string): string {
  return html.replaceAll(ACTING, (character) =>
    /[\n\r\t]/.test(character) ? character : escaped(character),
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Returns a text for HTML that is composed by hand, in an element or in a quoted attribute. */
export function htmlText(text: string): string {
  return safeDocument(text).replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}

/** Returns a text for a message: one line, whatever an upstream reported. */
export function messageText(text: string): string {
  return printable(text.replaceAll(/\s*[\n\r\u2028\u2029]\s*/g, ' '));
}

/** Returns a JSON value in which every text, names too, is a {@link messageText}. */
export function messageValue(value: unknown): unknown {
  if (typeof value === 'string') return messageText(value);
  if (Array.isArray(value)) return value.map(messageValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [messageText(name), messageValue(part)]),
  );
}

/** Returns a text that Markdown shows as it is, in one line. */
export function markdownText(text: string): string {
  return messageText(text).replaceAll(/[\\`*_[\]<>|~&]/g, '\\$&');
}

/** What spreadsheets take for the beginning of a formula, also after spaces and in full width. A plain number is none. */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** Returns a text for a cell of a spreadsheet: one line, and a text that would run as a formula has an apostrophe before it. */
export function spreadsheetText(text: string): string {
  const isFormula = (FORMULA.test(text) || /^[\t\r\n]/.test(text)) && !NUMBER.test(text);
  return printable(isFormula ? `'${text}` : text);
}
