import fc from 'fast-check';
import { afterAll, expect, inject, it } from 'vitest';
import { ArrayBytes } from '../../src/db/array-bytes.ts';
import { openBulk, prepared } from '../../src/db/bulk-client.ts';

const bulk = openBulk(inject('databaseUrl'), 1);
afterAll(() => bulk.end());

const digits = fc.stringMatching(/^\d{1,40}$/);
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(digits, fc.constantFrom('0', '0000', '1', '10000', '9999', '00012345')),
    fc.oneof(fc.constant(null), digits, fc.constantFrom('0', '0000', '00001', '9999000')),
    fc.constantFrom('', 'e0', 'e1', 'E-2', 'e+3', 'e-37', 'e250', 'e-999', 'e999'),
  )
  .map(([sign, whole, part, exponent]) => `${sign}${whole}${part === null ? '' : `.${part}`}${exponent}`);
const fraction = fc.oneof(
  fc.constantFrom('', '.000', '.999999', '.9999995', '.0000005', '.0000015', '.000000499'),
  fc.stringMatching(/^\.\d{1,9}$/),
);
const instant = fc
  .tuple(
    fc.date({
      min: new Date('0001-01-02T00:00:00Z'),
      max: new Date('9998-12-31T00:00:00Z'),
      noInvalidDate: true,
    }),
    fraction,
    fc.constantFrom('Z', '+00:00', '-11:30', '+14:00'),
  )
  .map(([date, part, zone]) => `${date.toISOString().slice(0, 19)}${part}${zone}`);
const text = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 300 }),
    fc.string({ unit: 'grapheme-ascii', maxLength: 300 }),
  )
  .filter((value) => !value.includes('\0') && value.isWellFormed());

/** Texts of each type that columns of rows may have. */
const TYPES: readonly (readonly [string, fc.Arbitrary<string>])[] = [
  ['numeric', number],
  [
    'timestamptz',
    fc.oneof(
      instant,
      fc.constantFrom(
        '2016-12-31T23:59:60Z',
        '2016-12-31T23:59:60+01:00',
        '1714-07-29T14:12:25.000009+14:00',
        '2260-01-01T00:00:00.000001Z',
      ),
    ),
  ],
  ['bigint', fc.oneof(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), fc.integer().map(BigInt)).map(String)],
  ['boolean', fc.constantFrom('true', 'false')],
  ['text', text],
  [
    'jsonb',
    fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true })).map((value) => JSON.stringify(value)),
  ],
];

it.each(TYPES)('%s is what PostgreSQL makes of its texts', async (type, value) => {
  const same = prepared<{ bytes: string | null; texts: string | null }>(`
    select u.bytes::text, u.texts::${type}::text as texts
    from unnest($1::${type}[], $2::text[]) with ordinality as u(bytes, texts, n) order by n`);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(value, { freq: 6 }), { maxLength: 40 }), async (texts) => {
      const bytes = new ArrayBytes(type);
      for (const one of texts) bytes.add(one);
      const rows = await bulk.ask(same, [bytes.array(), texts]);
      expect(rows.map((row) => row.bytes)).toEqual(rows.map((row) => row.texts));
      expect(rows).toHaveLength(texts.length);
    }),
    { numRuns: 300 },
  );
});

it('has nothing of what had its room before, however many come and go', () => {
  const values = fc.array(fc.array(fc.option(text, { freq: 6 }), { maxLength: 60 }), {
    minLength: 2,
    maxLength: 12,
  });
  const expected = (texts: readonly (string | null)[]) => {
    const parts = texts.map((one) => {
      const bytes = Buffer.from(one ?? '');
      const length = Buffer.alloc(4);
      length.writeInt32BE(one === null ? -1 : bytes.length);
      return Buffer.concat([length, bytes]);
    });
    const header = Buffer.alloc(texts.length === 0 ? 12 : 20);
    [texts.length === 0 ? 0 : 1, texts.includes(null) ? 1 : 0, 25, texts.length, 1].forEach((value, at) => {
      if (4 * at < header.length) header.writeInt32BE(value, 4 * at);
    });
    return Buffer.concat([header, ...parts]).toString('hex');
  };
  fc.assert(
    fc.property(values, fc.integer({ min: 1, max: 3 }), (all, atOnce) => {
      const under: { bytes: ArrayBytes; texts: readonly (string | null)[] }[] = [];
      for (const texts of all) {
        const bytes = new ArrayBytes('text');
        for (const one of texts) bytes.add(one);
        under.push({ bytes, texts });
        for (const one of under) expect(one.bytes.array().toString('hex')).toBe(expected(one.texts));
        if (under.length > atOnce) {
          const gone = under.shift()?.bytes;
          gone?.clear();
          gone?.clear(); // gives nothing back twice
          expect(gone?.array().toString('hex')).toBe(expected([]));
        }
      }
    }),
    { numRuns: 200 },
  );
});

it('takes no type of which it does not know the form, and no text that is no value', () => {
  expect(() => new ArrayBytes('point')).toThrow('no binary form of point');
  for (const [type, value] of [
    ['numeric', 'NaN'],
    ['numeric', '1.'],
    ['timestamptz', 'tomorrow'],
  ] as const) {
    const bytes = new ArrayBytes(type);
    const before = bytes.array().toString('hex');
    expect(() => bytes.add(value)).toThrow(RangeError);
    expect(bytes.array().toString('hex')).toBe(before);
  }
});
