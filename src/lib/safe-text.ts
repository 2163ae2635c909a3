/**
 * Escaping of upstream text for each medium. Characters that the medium would interpret are escaped, so that
 * these characters stay visible.
 */

/**
 * Pattern of characters that have an effect instead of a glyph: control characters, line and paragraph
 * separators, lone surrogates, noncharacters (no XML document may contain some of them), and format
 * characters (overrides of the text direction, zero-width characters, tags). Characters that are displayed
 * are excluded: the joiners of scripts and emoji, and the Arabic, Syriac and Kaithi signs around numbers.
 */
const UNSAFE_CHARACTERS =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Noncharacter_Code_Point}]|(?!\u200c|\u200d|[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}])\p{Cf}/gu;

const escaped = (character: string) =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');

/** Escapes a text for a terminal: {@link UNSAFE_CHARACTERS} and line ends are escaped as in JSON. */
export function escapeUnsafeText(text: string): string {
  return text.replaceAll(UNSAFE_CHARACTERS, escaped);
}

/** Escapes as {@link escapeUnsafeText}, but keeps line ends; for texts of several lines, such as JSON. */
export function escapeUnsafeLines(text: string): string {
  return text.replaceAll(UNSAFE_CHARACTERS, (character) =>
    character === '\n' ? character : escaped(character),
  );
}

/** Escapes a whole HTML document. Keeps line ends and tabs, which are whitespace in HTML. */
export function escapeHtmlDocument(html: string): string {
  return html.replaceAll(UNSAFE_CHARACTERS, (character) =>
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

/** Escapes a text for an element or a quoted attribute of HTML that is concatenated from texts. */
export function escapeHtml(text: string): string {
  return escapeHtmlDocument(text).replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}

/** Returns a text for a message: one line, with {@link UNSAFE_CHARACTERS} escaped. */
export function messageText(text: string): string {
  return escapeUnsafeText(text.replaceAll(/\s*[\n\r\u2028\u2029]\s*/g, ' '));
}

/** Returns a JSON value in which all texts and keys are escaped by {@link messageText}. */
export function messageValue(value: unknown): unknown {
  if (typeof value === 'string') return messageText(value);
  if (Array.isArray(value)) return value.map(messageValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [messageText(name), messageValue(part)]),
  );
}

/** Escapes a text so that Markdown renders the text literally, in one line. */
export function escapeMarkdown(text: string): string {
  return messageText(text).replaceAll(/[\\`*_[\]<>|~&]/g, '\\$&');
}

/**
 * Pattern of the start of a spreadsheet formula, also after spaces and in full-width characters, and after a
 * semicolon, where spreadsheets of many languages start another cell. A plain number is not a formula.
 */
const FORMULA =
  /(?<=^|;)(?!\s*[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?:;|$))(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])/g;

/**
 * Escapes a text for a spreadsheet cell: one line, with an apostrophe before each part that would run as a
 * formula.
 */
export function escapeSpreadsheetText(text: string): string {
  return escapeUnsafeText(text.replaceAll(FORMULA, "'"));
}
