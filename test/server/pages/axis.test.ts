import { describe, expect, it } from 'vitest';
import { amountTicks } from '../../../src/server/pages/parts/axis.ts';

describe('an axis of amounts', () => {
  it.each([
    ['a share that never changes', 100, 100, 0, 100],
    ['an amount that never changes', 7, 7, 0, 7],
    ['a debt that never changes', -7, -7, -7, 0],
    ['nothing', 0, 0, 0, 1],
  ])('of %s starts or ends at nothing, and holds no amount far beyond it', (_, least, most, low, high) => {
    const ticks = amountTicks(least, most);
    const [first = Number.NaN, last = Number.NaN] = [ticks[0], ticks.at(-1)];
    const step = (ticks[1] ?? Number.NaN) - first;
    expect([first <= low, last >= high]).toEqual([true, true]);
    expect([low - first < step, last - high < step]).toEqual([true, true]);
    expect(ticks).toContain(0);
  });

  it('of 100 % has no place beyond it', () => {
    expect(amountTicks(100, 100).at(-1)).toBe(100);
  });

  it('of amounts far from nothing is not a flat line', () => {
    expect(amountTicks(1_000_000, 1_000_010)[0]).toBeGreaterThanOrEqual(999_990);
  });
});
