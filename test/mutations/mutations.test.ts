import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { plantedBugs } from '../../chaos/planted-bugs.ts';
import { applyPatch, type SourcePatch } from '../../chaos/source-patch.ts';
import { mutations } from './mutations.ts';

const apply = (patch: SourcePatch) => applyPatch(readFileSync(`src/${patch.file}`, 'utf8'), patch);

it.each(mutations)('each mutation can be applied: $name', ({ test, ...patch }) => {
  expect(() => apply(patch)).not.toThrow();
  expect(existsSync(`test/${test}`)).toBe(true);
});

it.each(plantedBugs)('each bug of the chaos suite can be planted: $bug', ({ patches }) => {
  for (const patch of patches) expect(() => apply(patch)).not.toThrow();
});

describe('applyPatch', () => {
  it.each([0, 2])('throws if the file contains the text %i times', (times) => {
    const patch = { file: 'one.ts', from: 'true', to: 'false' };
    expect(() => applyPatch('true '.repeat(times), patch)).toThrow(
      `src/one.ts contains this text ${times} times: true`,
    );
  });
});
