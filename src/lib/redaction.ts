/**
 * Minimum length of a secret, in characters. A shorter secret may equal an ordinary word, whose redaction
 * would change recorded data.
 */
export const MIN_SECRET_LENGTH = 8;

const REDACTED = '[redacted]';
/** Characters that start the escape sequences. A text without these characters contains no escaped secret. */
const MAY_ESCAPE = /[\\%&]/;
const MAY_ESCAPE_SPACES = /[\\%&+]/;

/**
 * Creates a function that redacts secrets from a text in every form that an upstream or a library may echo:
 * plain, escaped as in JSON (also JSON within JSON) or HTML, percent-encoded (also repeatedly, or as a form),
 * or base64 of a longer text, as in a Basic header. JSON stays valid.
 * @param secrets secrets to redact; secrets shorter than {@link MIN_SECRET_LENGTH} are ignored
 */
export function createRedactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const known = [...new Set(secrets)]
    .flatMap((secret) => (secret && secret.length >= MIN_SECRET_LENGTH ? [secret] : []))
    .sort((a, b) => b.length - a.length); // longest first: a secret may be part of another
  if (known.length === 0) return (text) => text;
  const inAnySpelling = new RegExp(known.map(buildSecretPattern).join('|'), 'g');
  const mayEscape = known.some((secret) => secret.includes(' ')) ? MAY_ESCAPE_SPACES : MAY_ESCAPE;
  const inBase64 = known.flatMap(encodeInBase64);
  const redactAll = (texts: readonly string[], text: string) =>
    texts.reduce((clean, secret) => clean.replaceAll(secret, REDACTED), text);
  return (text) =>
    redactAll(
      inBase64,
      mayEscape.test(text) ? text.replaceAll(inAnySpelling, REDACTED) : redactAll(known, text),
    );
}

/**
 * Returns the characters that encode only the secret in the base64 of a text that contains it, for each of the three
 * alignments.
 */
function encodeInBase64(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)),
  );
}

/** Pattern of the start of percent-encoding. The percent sign itself may be escaped. */
const PERCENT = '%(?:25){0,3}';

/** Pattern of the start of an HTML entity. The ampersand itself may be escaped. */
const ENTITY = '&(?:amp;){0,2}';
/** Characters with a named entity of HTML. */
const ENTITY_NAMES: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
};

/**
 * Builds a pattern of every encoding of a secret. The quantifiers of the pattern are bounded, so that
 * matching a text of backslashes alone is also fast.
 */
function buildSecretPattern(secret: string): string {
  return [...secret.matchAll(/\\+|[^\\]/gsu)].map(([part]) => buildPartPattern(part)).join('');
}

/**
 * Builds a pattern of every encoding of a part of a secret.
 * @param part a character, or consecutive backslashes
 */
function buildPartPattern(part: string): string {
  if (part.startsWith('\\')) {
    // Each level of JSON doubles the backslashes. An additional backslash escapes the next character, and its
    // removal would break the JSON.
    const inARow = [32, 16, 8, 4, 2, 1].map((times) => `\\\\{${times * part.length}}`);
    return `(?:(?:\\\\{1,8}u005[cC]|${PERCENT}5[cC]|${ENTITY}#(?:92|[xX]5[cC]);){${part.length}}|${inARow.join('|')})`;
  }
  const units = part.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  const bytes = [...Buffer.from(part)]
    .map((byte) => `${PERCENT}${byte.toString(16).padStart(2, '0')}`)
    .join('');
  const codePoint = part.codePointAt(0) ?? 0;
  const entities = [
    `#0{0,5}${codePoint}`,
    inAnyCase(`#[xX]0{0,5}${codePoint.toString(16)}`),
    ...(ENTITY_NAMES[part] ? [ENTITY_NAMES[part]] : []),
  ].join('|');
  const itself = part.replace(/[$()*+.?[\]^{|}/-]/, '\\$&');
  const escapes = inAnyCase(`${units.map((unit) => `u${unit}`).join('\\\\{1,8}')}|${bytes}`);
  // Escapes come first: a percent sign may be literal or start an escape.
  return `\\\\{0,7}(?:${escapes}|${ENTITY}(?:${entities});|${itself}${part === ' ' ? '|\\+' : ''})`;
}

/** Returns a pattern that matches hexadecimal digits in lower and upper case. */
const inAnyCase = (hex: string) => hex.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
