import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { mutations } from './mutations.ts';

it.each(mutations)('each mutation can be applied: $name', ({ file, from, test }) => {
  expect(readFileSync(`src/${file}`, 'utf8').split(from)).toHaveLength(2);
  expect(existsSync(`test/${test}`)).toBe(true);
});
