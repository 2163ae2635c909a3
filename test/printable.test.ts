import fc from 'fast-check';
import { expect, it } from 'vitest';
import { printable, printableLines } from '../src/printable.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const CONTROL = /[\x00-\x1f\x7f-\x9f]|\p{Bidi_Control}|[\u2028\u2029]/u;

it('nothing that a terminal obeys is left', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(printable(text)).not.toMatch(CONTROL);
      expect(printableLines(text).replaceAll('\n', '')).not.toMatch(CONTROL);
    }),
  );
});

it.each([
  ['\u001b[2J\u001b]0;owned\u0007', '\\u001b[2J\\u001b]0;owned\\u0007'],
  ['a\r\nb\u009b31m', 'a\\u000d\\u000ab\\u009b31m'],
  ['\u202eevil\u2066', '\\u202eevil\\u2066'],
  ['Grüße, 世界 💡 "quoted" \\u0000', 'Grüße, 世界 💡 "quoted" \\u0000'],
])('%j is shown as %j', (text, shown) => {
  expect(printable(text)).toBe(shown);
});

it('JSON means the same before and after', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(printableLines(JSON.stringify(value, null, 2)))).toEqual(
        JSON.parse(JSON.stringify(value)),
      );
    }),
  );
});
