import { expect, it } from 'vitest';
import { Rows } from '../../src/history/rows.ts';

const columns = [
  { index: 0, type: 'text' },
  { index: 2, type: 'numeric' },
];

it('of which a text is no value are not added: no column has a value more than the others', () => {
  const [rows, others] = [new Rows(columns), new Rows(columns)];
  rows.add(['a', 'left out', '1']);
  expect(() => rows.add(['b', null, 'many'])).toThrow(RangeError);
  rows.add(['c', null, null]);
  others.add(['a', null, '1']);
  others.add(['c', null, null]);
  expect([rows.length, rows.array(0), rows.array(1)]).toEqual([2, others.array(0), others.array(1)]);
});
