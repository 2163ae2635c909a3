/**
 * Escaping of upstream text for each medium. Characters that the medium would interpret are escaped, so that
 * they stay visible.
 */

/**
 * Characters that act instead of being displayed: control characters, line and paragraph separators, marks
 * and overrides of the text direction, zero-width characters, annotations, tags, and lone surrogates.
 */
const UNSAFE_CHARACTERS =
  /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

const escaped = (character: string) =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');

/** Escapes a text for a terminal: acting characters are escaped as in JSON, line ends too. */
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

/** Escapes a text for HTML that is composed by hand, in an element or in a quoted attribute. */
export function escapeHtml(text: string): string {
  return escapeHtmlDocument(text).replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}

/** Returns a text for a message: one line, with acting characters escaped. */
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

/** Escapes a text so that Markdown shows it literally, in one line. */
export function escapeMarkdown(text: string): string {
  return messageText(text).replaceAll(/[\\`*_[\]<>|~&]/g, '\\$&');
}

/**
 * Matches the start of a spreadsheet formula, also after spaces and in full-width characters. A plain number
 * is not a formula.
 */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/**
 * Escapes a text for a spreadsheet cell: one line, with an apostrophe before a text that would run as a
 * formula.
 */
export function escapeSpreadsheetText(text: string): string {
  const isFormula = (FORMULA.test(text) || /^[\t\r\n]/.test(text)) && !NUMBER.test(text);
  return escapeUnsafeText(isFormula ? `'${text}` : text);
}
