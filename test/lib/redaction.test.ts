import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../src/lib/redaction.ts';

const key = fc.string({ unit: 'grapheme-ascii', minLength: 8, maxLength: 40 });
const everyCharacterEscaped = (text: string) =>
  text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`)
    .join('');
/** The characters that proxies, web servers and templates escape in HTML. */
const html = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
const everyCharacterAsEntity = (text: string) =>
  text
    .split('')
    .map((unit, at) => (at % 2 ? `&#${unit.charCodeAt(0)};` : `&#x${unit.charCodeAt(0).toString(16)};`))
    .join('');
const form = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
const json = (text: string) => JSON.stringify(text).slice(1, -1);

describe('a secret', () => {
  it.each<[string, (secret: string) => string]>([
    ['as it is', (secret) => secret],
    ['in JSON', json],
    ['in JSON within JSON', (secret) => json(json(secret))],
    ['in JSON with slashes escaped', (secret) => json(secret).replaceAll('/', '\\/')],
    ['in JSON fit for HTML', (secret) => json(secret).replaceAll(/[<>&]/g, everyCharacterEscaped)],
    ['with every character escaped', everyCharacterEscaped],
    ['in a query', encodeURIComponent],
    [
      'in a query, in small letters',
      (secret) => encodeURIComponent(secret).replaceAll(/%../g, (byte) => byte.toLowerCase()),
    ],
    ['in a query, twice', (secret) => encodeURIComponent(encodeURIComponent(secret))],
    ['in a form', form],
    ['in HTML', html],
    ['in HTML with every character as an entity', everyCharacterAsEntity],
    ['in JSON within HTML', (secret) => html(json(secret))],
    ['in HTML within JSON', (secret) => json(html(secret))],
  ])('is redacted %s, whatever characters it has', (_, spelled) => {
    fc.assert(
      fc.property(key, fc.string(), fc.string(), (secret, before, after) => {
        const clean = createRedactor([undefined, secret])(`${json(before)}${spelled(secret)}${json(after)}`);
        expect(clean).toContain('[redacted]');
        expect(clean).not.toContain(spelled(secret));
      }),
    );
  });

  it('is redacted as the password of a Basic header, whatever its user is', () => {
    fc.assert(
      fc.property(key, fc.string({ unit: 'grapheme-ascii' }), (secret, user) => {
        const encoded = Buffer.from(`${user}:${secret}`).toString('base64');
        const clean = createRedactor([secret])(encoded);
        expect(clean).toContain('[redacted]');
        // Only characters that also encode the user or the end are left.
        const left = clean.replaceAll(/\[redacted\]|=/g, '').length;
        expect(left).toBeLessThanOrEqual(Math.ceil(((user.length + 1) * 8) / 6) + 1);
      }),
    );
  });

  it('is redacted from JSON that remains valid', () => {
    fc.assert(
      fc.property(key, fc.jsonValue(), fc.string(), (secret, value, word) => {
        const text = JSON.stringify({
          value,
          [`${word}${secret}`]: [`${secret}${word}`, `${word}${secret}`],
        });
        const clean = createRedactor([secret])(text);
        expect(JSON.stringify(JSON.parse(clean))).not.toContain(json(secret));
      }),
      // A backslash at its end, and after it one that escapes the next character.
      { examples: [['1234567\\', null, '"']] },
    );
  });

  it('that is part of another leaves no part of it', () => {
    const clean = createRedactor(['canary-1', 'canary-1-and-more'])('the key canary-1-and-more, or canary-1');
    expect(clean).toBe('the key [redacted], or [redacted]');
  });

  it('that is too short to differ from words is ignored', () => {
    expect(createRedactor(['key', ''])('the key of a monkey')).toBe('the key of a monkey');
  });

  it('is searched in bounded steps', () => {
    const hostile = '\\'.repeat(1_000_000);
    expect(createRedactor(['\\\\secret\\'])(hostile)).toHaveLength(1_000_000);
  });
});

it('is not found in a text without it, which is unchanged', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(createRedactor(['canary-4711'])(text)).toBe(text);
    }),
  );
});
