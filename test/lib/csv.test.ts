import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatDisplayCsv, formatExactCsv } from '../../src/lib/csv.ts';

it('formats lines by RFC 4180, with null distinct from empty', () => {
  expect(formatDisplayCsv(['a', null, '', 'b,c', 'd"e', 1n, true])).toBe('a,,"","b,c","d""e",1,true\r\n');
  expect(formatExactCsv(['a', null, '', 'f\r\ng', '=1'])).toBe('a,,"","f\r\ng",=1\r\n');
  expect(formatDisplayCsv([['=x', 1], { a: '"' }])).toBe('"[""=x"",1]","{""a"":""\\""""}"\r\n');
});

it('prevents formulas and line breaks in texts for people, and keeps numbers; for programs every character is kept', () => {
  expect(formatDisplayCsv(['=1+1', '+1-2', '-x', '@x', ' =1', '\uff1d1', 'a=b', '-1.50', '-2e-7', -2])).toBe(
    "'=1+1,'+1-2,'-x,'@x,' =1,'\uff1d1,a=b,-1.50,-2e-7,-2\r\n",
  );
  expect(formatDisplayCsv(['\tx', '\r=1', 'a\nb', 'a\u202eb'])).toBe(
    "'\\u0009x,'\\u000d=1,a\\u000ab,a\\u202eb\r\n",
  );
  // A spreadsheet of another language separates columns at semicolons.
  expect(formatDisplayCsv(['a;=1', 'a; @x', 'a;b', ';-1', '{"a":1};+x'])).toBe(
    `a;'=1,a;' @x,a;b,;-1,"{""a"":1};'+x"\r\n`,
  );
  const hostile = fc
    .tuple(
      fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', ' =', '\uff20'),
      fc.string({ unit: 'binary' }),
    )
    .map(([first, rest]) => `${first}x${rest}`);
  fc.assert(
    fc.property(hostile, (text) => {
      expect(formatDisplayCsv([text])).toMatch(/^"?'[^\n\r]*\r\n$/);
      const exact = formatExactCsv([text]).slice(0, -2);
      expect(exact.startsWith('"') ? exact.slice(1, -1).replaceAll('""', '"') : exact).toBe(text);
    }),
  );
});
