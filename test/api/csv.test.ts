import { expect, it } from 'vitest';
import { csvLine } from '../../src/api/csv.ts';

it('lines of CSV follow RFC 4180, tell null from empty, and are no formulas', () => {
  const line = (...values: Parameters<typeof csvLine>[0]) =>
    csvLine(
      values,
      values.map(() => true),
    );
  expect(line('a', null, '', 'b,c', 'd"e', 'f\r\ng')).toBe('a,,"","b,c","d""e","f\r\ng"\r\n');
  expect(line('=1+1', '+1', '-1', '@x', '\tx', 'a=b')).toBe("'=1+1,'+1,'-1,'@x,'\tx,a=b\r\n");
  expect(csvLine(['-1.50', -2, true], [false, false, false])).toBe('-1.50,-2,true\r\n');
  expect(line(['=x', 1], { a: '"' })).toBe('"[""=x"",1]","{""a"":""\\""""}"\r\n');
});
