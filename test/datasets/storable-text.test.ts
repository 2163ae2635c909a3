import fc from 'fast-check';
import postgres from 'postgres';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { originalText, storableJson, storableText } from '../../src/datasets/storable-text.ts';
import { jsonText, parseJson } from '../../src/upstreams/json.ts';

const sql = postgres(inject('databaseUrl'), { max: 1 });
afterAll(() => sql.end());

const parts = fc.constantFrom(
  '\\',
  '\\\\',
  'u0000',
  'ud800',
  'udfff',
  'uD800',
  'u00',
  'u',
  'd8',
  '00',
  '\0',
  '\ud83d',
  '\udca1',
  '💡',
  '"',
  'é',
);
const odd = fc.array(parts, { maxLength: 12 }).map((all) => all.join(''));
const anyText = fc.oneof(
  odd,
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
);

describe('a storable text', () => {
  it('decodes to the original text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(originalText(storableText(text))).toBe(text);
      }),
      { numRuns: 20_000 },
    );
  });

  it('is accepted by PostgreSQL, as text and within JSON', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyText, { minLength: 1 }), async (texts) => {
        const stored = texts.map(storableText);
        const json = storableJson(JSON.stringify(texts));
        const [row] = await sql<{ texts: string[]; inside: string[] }[]>`
          select ${stored}::text[] as texts,
            array(select value from jsonb_array_elements_text(${json}::text::jsonb) with ordinality as e(value, n) order by n) as inside`;
        expect(row).toEqual({ texts: stored, inside: stored });
      }),
    );
  });

  it.each([
    ['an ordinary text', 'Ünïcödé "\\n" \\u0041 💡'],
    ['a literal without a backslash', 'u0000 ud800'],
    ['upper-case hex', '\\uD800'],
    ['an empty text', ''],
  ])('is unchanged if it is %s', (_, text) => {
    expect(storableText(text)).toBe(text);
  });

  it.each([
    ['a\0b', 'a\\u0000b'],
    ['a\ud800b', 'a\\ud800b'],
    ['\udc00\ud800', '\\udc00\\ud800'],
    ['\\u0000', '\\\\u0000'],
    ['\\\0', '\\\\\\u0000'],
    ['\\\\udabc', '\\\\\\\\udabc'],
  ])('of %j is %j', (text, stored) => {
    expect(storableText(text)).toBe(stored);
    expect(originalText(stored)).toBe(text);
  });

  it('is computed in linear time for a million backslashes', () => {
    const text = `${'\\'.repeat(1_000_000)}\0${'\\'.repeat(1_000_000)}`;
    expect(originalText(storableText(text))).toBe(text);
  });
});

/** Returns a value with the rule applied to each string and key. */
function mapTexts(value: unknown, rule: (text: string) => string): unknown {
  if (typeof value === 'string') return rule(value);
  if (Array.isArray(value)) return value.map((part) => mapTexts(part, rule));
  if (typeof value !== 'object' || value === null) return value;
  const all: Record<string, unknown> = Object.create(null);
  for (const [key, part] of Object.entries(value)) all[rule(key)] = mapTexts(part, rule);
  return all;
}

describe('storable JSON', () => {
  const anyJson = fc
    .oneof(
      fc.jsonValue({ stringUnit: 'binary' }),
      fc.dictionary(anyText, fc.oneof(anyText, fc.array(anyText), fc.dictionary(anyText, anyText))),
    )
    .map((value): unknown => JSON.parse(JSON.stringify(value))); // JSON has no −0

  it('escapes every string and key reversibly; no key is lost', () => {
    fc.assert(
      fc.property(anyJson, fc.boolean(), (value, exact) => {
        const source = jsonText(exact ? [value, parseJson('12345678901234567890')] : [value]);
        const stored = JSON.parse(storableJson(source));
        expect(stored[0]).toEqual(mapTexts(value, storableText));
        expect(mapTexts(stored[0], originalText)).toEqual(mapTexts(value, (text) => text));
      }),
      { numRuns: 5_000 },
    );
  });
});
