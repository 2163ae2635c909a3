/**
 * Minimum length of a secret, in characters. A shorter one may equal an ordinary word, and redacting it would
 * change recorded data.
 */
export const MIN_SECRET_LENGTH = 8;

const REDACTED = '[redacted]';
/** A text without these characters contains no escape sequence. */
const MAY_ESCAPE = /[\\%]/;

/**
 * Creates a function that redacts secrets from a text in every form that an upstream or a library may echo:
 * plain, escaped as in JSON (also JSON within JSON), or percent-encoded. JSON stays valid.
 * @param secrets those shorter than {@link MIN_SECRET_LENGTH} are ignored
 */
export function createRedactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const known = [...new Set(secrets)]
    .flatMap((secret) => (secret && secret.length >= MIN_SECRET_LENGTH ? [secret] : []))
    .sort((a, b) => b.length - a.length); // longest first: a secret may be part of another
  if (known.length === 0) return (text) => text;
  const inAnySpelling = new RegExp(known.map(buildSecretPattern).join('|'), 'g');
  return (text) =>
    MAY_ESCAPE.test(text)
      ? text.replaceAll(inAnySpelling, REDACTED)
      : known.reduce((clean, secret) => clean.replaceAll(secret, REDACTED), text);
}

/**
 * Builds a pattern of every encoding of a secret. Its quantifiers are bounded, so that a text of backslashes
 * alone is fast, too.
 */
function buildSecretPattern(secret: string): string {
  return [...secret.matchAll(/\\+|[^\\]/gsu)].map(([part]) => buildPartPattern(part)).join('');
}

/** @param part a character, or consecutive backslashes */
function buildPartPattern(part: string): string {
  if (part.startsWith('\\')) {
    // Each level of JSON doubles the backslashes. An additional one escapes the next character; removing it
    // would break the JSON.
    const inARow = [32, 16, 8, 4, 2, 1].map((times) => `\\\\{${times * part.length}}`);
    return `(?:(?:\\\\{1,8}u005[cC]|%5[cC]){${part.length}}|${inARow.join('|')})`;
  }
  const units = part.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  const bytes = [...Buffer.from(part)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const itself = part.replace(/[$()*+.?[\]^{|}/-]/, '\\$&');
  const escapes = inAnyCase(`${units.map((unit) => `u${unit}`).join('\\\\{1,8}')}|${bytes}`);
  // Escapes come first: a percent sign may be literal or start an escape.
  return `\\\\{0,7}(?:${escapes}|${itself})`;
}

/** Matches hexadecimal digits in lower and upper case. */
const inAnyCase = (hex: string) => hex.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
