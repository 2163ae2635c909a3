import fc from 'fast-check';
import { LosslessNumber, parse } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { isExactNumber, jsonText, parseJson } from '../../src/upstreams/json.ts';

/** Returns the text of a number from either parser. */
const textOf = (value: unknown) => (isExactNumber(value) ? value.value : String(value));

const digits = fc.stringMatching(/^(0|[1-9]\d{0,40})$/);
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits,
    fc.option(fc.stringMatching(/^\d{1,30}$/), { nil: undefined }),
    fc.option(
      fc.tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.integer({ min: 0, max: 400 })),
      {
        nil: undefined,
      },
    ),
  )
  .map(
    ([sign, integer, fraction, power]) =>
      `${sign}${integer}${fraction === undefined ? '' : `.${fraction}`}${power?.join('') ?? ''}`,
  );

/** Number of random documents; by hand: `READ_TEXTS=1000000 npx vitest run test/upstreams/json.test.ts` */
const TEXTS = Number(process.env.READ_TEXTS ?? 2_000);

/** Valid keys, and some invalid ones. */
const key = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .constantFrom('a', 'b', ':1234567890123456', '__proto__', '', '10')
      .map((name) => JSON.stringify(name)),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(',a', ']a', ' a', '\\', 'a"b', '":', 'a\\', 'é')
      .map((name) => JSON.stringify(name)),
  },
  fc.constantFrom('12345678901234567890', '1', 'a'),
);

/** JSON texts with numbers, and texts that look like numbers, at all kinds of places. */
const { document } = fc.letrec<{ value: string; list: string; object: string; document: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    number,
    fc
      .string({ unit: fc.constantFrom(...'a"\\ :[,]}1234567890.eE-\né\ud83d') })
      .map((text) => JSON.stringify(text)),
    number.map((text) => JSON.stringify(`: ${text}`)),
    number.map((text) => JSON.stringify(`", ${text}, ":${text},`)),
    tie('document').map((text) => JSON.stringify(text)),
    fc.constantFrom(
      'null',
      'true',
      '""',
      '"\\\\"',
      '"\\"',
      '01',
      '1.',
      '.5e1',
      '-',
      '"',
      '-0',
      '-0.0',
      '\ufeff',
    ),
    fc.constantFrom(
      '0123456789012345678',
      '1234567890123456789.',
      '1.234567890123456.7',
      '1e',
      '1234567890123456e+',
    ),
    tie('list'),
    tie('object'),
  ),
  list: fc
    .tuple(fc.array(tie('value'), { maxLength: 5 }), fc.constantFrom(',', ' ,\n ', ',\u00a0'))
    .map(([values, comma]) => `[${values.join(comma)}]`),
  object: fc
    .tuple(
      fc.array(fc.tuple(key, tie('value')), { maxLength: 5 }),
      fc.constantFrom(':', ': ', ' :', '\n:\t'),
      fc.constantFrom(',', ' , '),
    )
    .map(
      ([entries, colon, comma]) => `{${entries.map(([name, value]) => name + colon + value).join(comma)}}`,
    ),
  document: fc.oneof(tie('list'), tie('object'), tie('value')),
}));

/** The same texts, some truncated or with another character somewhere. */
const text = fc.oneof(
  { weight: 4, arbitrary: document },
  fc.tuple(document, fc.nat()).map(([json, at]) => json.slice(0, at % (json.length + 1))),
  fc.tuple(document, fc.nat(), fc.constantFrom(...'"\\,:[]{}0 e.-x')).map(([json, at, character]) => {
    const place = at % (json.length + 1);
    return json.slice(0, place) + character + json.slice(place + 1);
  }),
);

/** Parses the same with a parser that reads every number exactly, character by character. */
const parseExactly = (text: string) =>
  parse(text, undefined, {
    parseNumber: (digits) =>
      /^-?[\d.]{1,15}$/.test(digits) || String(Number(digits)) === digits
        ? Number(digits)
        : new LosslessNumber(digits),
    onDuplicateKey: ({ newValue }) => newValue,
  });

/** Texts of JSON and other texts, each with a special case of numbers beside strings. */
const EXAMPLES = [
  // Numbers around the longest that a double represents exactly.
  '[1234567890123456,9007199254740993,-12345678901234567,0.12345678901234567,1.234567890123456e22]',
  '{"a":",12345678901234567890,","b":12345678901234567890}',
  '{",a":12345678901234567890,"]":12345678901234567890,"":12345678901234567890}',
  '{"a\\\\":12345678901234567890,"\\"b":12345678901234567890,"c\\"d":12345678901234567890}',
  '["{\\"a\\":12345678901234567890,\\"b\\":[1,12345678901234567890]}",12345678901234567890]',
  '["\\":12345678901234567890,",12345678901234567890,"a:12345678901234567890,"]',
  '{"a" : 12345678901234567890 , "b"\n:\n12345678901234567890\n}',
  '[["a",12345678901234567890],["b",12345678901234567890],["[2001:db8::3e12]:9651",1e400]]',
  '{"é\ud83d":12345678901234567890,"ключ":[12345678901234567890]}',
  '  12345678901234567890\n',
  '{"a":"12345678901234567890","b":": 12345678901234567890,"}',
  ...[
    '{"a":1',
    '[1,2',
    '{"a":12345678901234567890',
    '',
    '<html>',
    '{"a":01}',
    '\ufeff{}',
    '{"a":1}{}',
    "{'a':1}",
  ],
  ...['NaN', '{"a":1,12345678901234567890:2}', '{"a":1,12345678901234567890 :2}'],
  ...['{"a":12345678901234567890.,"a":1}', '{"a":01234567890123456789,"a":1}', '[12345678901234567890"a"]'],
  ...['\u00a012345678901234567890', '12345678901234567890,12345678901234567890', '12345678901234567890],[1'],
];

describe('parseJson', () => {
  it('parses what an exact parser parses', () => {
    fc.assert(
      fc.property(text, (text) => {
        let expected: unknown;
        try {
          JSON.parse(text);
          expected = parseExactly(text);
        } catch {
          expect(() => parseJson(text)).toThrow(SyntaxError);
          return;
        }
        expect(parseJson(text)).toStrictEqual(expected);
      }),
      { numRuns: TEXTS + EXAMPLES.length, seed: 1, examples: EXAMPLES.map((one) => [one]) },
    );
  });

  it('parses and writes any other JSON like JSON.parse and JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(jsonText(parseJson(text))).toBe(text);
      }),
    );
  });

  it('reports errors by their place in the original text', () => {
    expect(() => parseJson('[12345678901234567890 x]')).toThrow(/position 22/);
  });

  it('parses a number of a million digits, and a hundred thousand numbers without a string between them', () => {
    const digits = '7'.repeat(1_000_000);
    for (const more of ['', `.${digits}`, `e${digits}`]) {
      const [number] = [parseJson(`[${digits}${more}]`)].flat();
      expect(textOf(number) === digits + more).toBe(true);
    }
    expect(() => parseJson(`[${digits}x]`)).toThrow(SyntaxError);
    const numbers = [parseJson(`[${'1e0,'.repeat(100_000)}"",1]`)].flat();
    expect(numbers.length).toBe(100_002);
  });

  it.each(['', ' '])('does not change Object.prototype and keeps a key named __proto__ (%j)', (slow) => {
    const big = slow === '' ? '' : ',"big":12345678901234567890';
    const parsed = parseJson(`{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}${big}}`);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(Object.keys(Object(parsed)).slice(0, 2)).toEqual(['__proto__', 'constructor']);
    expect(jsonText(parsed)).toContain('"__proto__":{"polluted":1}');
  });

  it.each([
    ['[', ']'],
    ['{"a":', '}'],
    ['["\\\\",[', ']]'],
    ['{"]":[', ']}'],
  ])('parses around values nested deeper than its limit (%j)', (open, close) => {
    for (const levels of [3_000, 100_000])
      for (const exact of ['', ',12345678901234567890']) {
        const deep = `${open.repeat(levels)}1${close.repeat(levels)}`;
        const parsed = parseJson(`[{"good":1},{"deep":${deep},"next":2},{"good":3}${exact}]`);
        if (!Array.isArray(parsed)) throw new Error('no list');
        expect([jsonText(parsed[0]), jsonText(parsed[2])]).toEqual(['{"good":1}', '{"good":3}']);
        if (levels > 3_000) expect(() => jsonText(parsed[1])).toThrow(RangeError);
        else expect(() => jsonText(parsed[1])).toSatisfy(throwsOrReturns);
      }
    expect(() => parseJson(open.repeat(200_000))).toThrow(SyntaxError);
    expect(parseJson(JSON.stringify({ a: `${'[{'.repeat(100_000)}"\\`, b: [] }))).toMatchObject({ b: [] });
  });

  it.each(['[', '{"a":'])('refuses extreme nesting of %j without a stack overflow', (open) => {
    for (const big of ['', '[12345678901234567890,'])
      expect(() => parseJson(big + open.repeat(2_000_000))).toThrow();
    const nested = `${'['.repeat(200_000)}1${']'.repeat(200_000)}`;
    for (const text of [nested, `[12345678901234567890,${nested}]`]) {
      let parsed: unknown;
      try {
        parsed = parseJson(text);
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
        continue;
      }
      // Every parsed value must be refused or written, and never crash the process.
      expect(() => jsonText(parsed)).toSatisfy(throwsOrReturns);
    }
  });
});

function throwsOrReturns(work: () => unknown): boolean {
  try {
    work();
  } catch (error) {
    return error instanceof Error;
  }
  return true;
}

describe('jsonText', () => {
  it('formats exact numbers unchanged', () => {
    const text = '{"a":[18446744073709551616,{"b":0.1000000000000000000001}],"c":1.0000000000000000e2}';
    expect(jsonText(parseJson(text))).toBe(text);
  });

  it.each([
    ['undefined', undefined],
    ['a function', () => {}],
  ])('formats null for %s', (_, value) => {
    expect(jsonText(value)).toBe('null');
  });
});
