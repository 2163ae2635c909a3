/**
 * Escaping of characters that PostgreSQL cannot store. U+0000 and unpaired surrogates become `\uXXXX`
 * (lower-case hex). To make this reversible, backslashes directly before such a character, or before a
 * literal that looks like an escape (`u0000`, `ud800` … `udfff`), are doubled. All other texts are unchanged.
 *
 * The escaping is injective: different texts stay different, as values and as keys of an object.
 */

const UNSTORABLE = /(?<!\\)(\\*)(?:([\0\p{Cs}])|(?<=\\)(?=u(?:0000|d[89a-f][\da-f]{2})))/gu;
const ESCAPED = /\\u(?:0000|d[89a-f])/;
/**
 * Tests whether a text may contain an escape. Almost no text has a backslash, so a search for a backslash is
 * cheaper than the pattern.
 */
const mayBeEscaped = (text: string) => text.includes('\\u') && ESCAPED.test(text);

/** Returns a text in the form that PostgreSQL can store. */
export function storableText(text: string): string {
  if (!text.includes('\0') && text.isWellFormed() && !mayBeEscaped(text)) return text;
  return text.replace(
    UNSTORABLE,
    (_, backslashes: string, character: string | undefined) =>
      backslashes.repeat(2) +
      (character === undefined ? '' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** Reverses {@link storableText}. */
export function originalText(stored: string): string {
  if (!mayBeEscaped(stored)) return stored;
  return stored.replace(
    /(?<!\\)(\\+)u(0000|d[89a-f][\da-f]{2})/g,
    (_, backslashes: string, code: string) =>
      '\\'.repeat(backslashes.length >> 1) +
      (backslashes.length % 2 === 0 ? `u${code}` : String.fromCharCode(Number.parseInt(code, 16))),
  );
}

/**
 * Returns a JSON text in the form that PostgreSQL can store: {@link storableText} of every string and key in
 * the text. In JSON, where a backslash is written as two, only the backslashes have to be doubled.
 * @param source well-formed JSON with lower-case hex in its escapes, in the format of `JSON.stringify`
 */
export function storableJson(source: string): string {
  if (!mayBeEscaped(source)) return source;
  return source.replace(/(?<!\\)(\\+)(?=u(?:0000|d[89a-f][\da-f]{2}))/g, '$1$1');
}
