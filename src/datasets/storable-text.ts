/**
 * The one rule for characters that PostgreSQL does not take: U+0000 and half a surrogate pair are kept as `\uXXXX`
 * (lower-case hex). So that this can be undone, backslashes directly before such a character, or before what only
 * looks like one (a literal `u0000`, `ud800` … `udfff`), are doubled. All other texts are kept as they are.
 *
 * Nothing collides: different texts stay different, as values and as keys of an object.
 */

const UNSTORABLE = /(?<!\\)(\\*)(?:([\0\p{Cs}])|(?<=\\)(?=u(?:0000|d[89a-f][\da-f]{2})))/gu;
const ESCAPED = /\\u(?:0000|d[89a-f])/;
/** Nearly no text has a backslash: looking for one first costs less than the pattern. */
const mayBeEscaped = (text: string) => text.includes('\\u') && ESCAPED.test(text);

/** A text as PostgreSQL stores it. */
export function storableText(text: string): string {
  if (!text.includes('\0') && text.isWellFormed() && !mayBeEscaped(text)) return text;
  return text.replace(
    UNSTORABLE,
    (_, backslashes: string, character: string | undefined) =>
      backslashes.repeat(2) +
      (character === undefined ? '' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** The text that {@link storableText} was given. */
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
 * A JSON text as PostgreSQL stores it: {@link storableText} of every string and key in it. In JSON, where a backslash
 * is written as two, the whole rule is to double the backslashes.
 * @param source well-formed JSON with lower-case hex in its escapes, as `JSON.stringify` writes it
 */
export function storableJson(source: string): string {
  if (!mayBeEscaped(source)) return source;
  return source.replace(/(?<!\\)(\\+)(?=u(?:0000|d[89a-f][\da-f]{2}))/g, '$1$1');
}
