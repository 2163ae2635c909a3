/** A shorter secret may equal an ordinary word: removing it would change what is recorded. */
export const SHORTEST_SECRET = 8;

const REDACTED = '[redacted]';
/** A text without these characters contains no escape. */
const MAY_ESCAPE = /[\\%]/;

/**
 * Makes a function that removes secrets from a text in every form that an upstream or a library may echo: plain, escaped
 * as in JSON (also JSON within JSON), or percent-encoded. JSON stays JSON.
 * @param secrets those of fewer than {@link SHORTEST_SECRET} characters are left alone
 */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const known = [...new Set(secrets)]
    .flatMap((secret) => (secret && secret.length >= SHORTEST_SECRET ? [secret] : []))
    .sort((a, b) => b.length - a.length); // longest first: one may be a part of another
  if (known.length === 0) return (text) => text;
  const inAnySpelling = new RegExp(known.map(spellings).join('|'), 'g');
  return (text) =>
    MAY_ESCAPE.test(text)
      ? text.replaceAll(inAnySpelling, REDACTED)
      : known.reduce((clean, secret) => clean.replaceAll(secret, REDACTED), text);
}

/** A pattern of every way to write a secret down. Its quantifiers are bounded: a text of backslashes alone is quick, too. */
function spellings(secret: string): string {
  return [...secret.matchAll(/\\+|[^\\]/gsu)].map(([part]) => spellingsOf(part)).join('');
}

/** @param part a character, or backslashes in a row */
function spellingsOf(part: string): string {
  if (part.startsWith('\\')) {
    // Each JSON around it doubles them. One more is of what follows: without it that would not be JSON any more.
    const inARow = [32, 16, 8, 4, 2, 1].map((times) => `\\\\{${times * part.length}}`);
    return `(?:(?:\\\\{1,8}u005[cC]|%5[cC]){${part.length}}|${inARow.join('|')})`;
  }
  const units = part.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  const bytes = [...Buffer.from(part)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const itself = part.replace(/[$()*+.?[\]^{|}/-]/, '\\$&');
  const escapes = inAnyCase(`${units.map((unit) => `u${unit}`).join('\\\\{1,8}')}|${bytes}`);
  // Escapes come first: a percent sign may stand for itself, or begin one.
  return `\\\\{0,7}(?:${escapes}|${itself})`;
}

/** Hexadecimal digits may be lower or upper case. */
const inAnyCase = (hex: string) => hex.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
