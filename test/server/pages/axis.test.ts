import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { windowOfRecord } from '../../../src/server/pages/charts/drawn-window.ts';
import { amountTicks, timeTicks } from '../../../src/server/pages/parts/axis.ts';
import { dotsOf } from '../../../src/server/pages/parts/line-path.ts';

describe('an axis of amounts', () => {
  it.each([
    ['a share that never changes', 100, 100, 0, 100],
    ['an amount that never changes', 7, 7, 0, 7],
    ['a debt that never changes', -7, -7, -7, 0],
    ['nothing', 0, 0, 0, 1],
  ])('of %s starts or ends at zero, and has no value far beyond it', (_, minimum, maximum, low, high) => {
    const ticks = amountTicks(minimum, maximum);
    const [first = Number.NaN, last = Number.NaN] = [ticks[0], ticks.at(-1)];
    const step = (ticks[1] ?? Number.NaN) - first;
    expect([first <= low, last >= high]).toEqual([true, true]);
    expect([low - first < step, last - high < step]).toEqual([true, true]);
    expect(ticks).toContain(0);
  });

  it('of 100 % has no value beyond it', () => {
    expect(amountTicks(100, 100).at(-1)).toBe(100);
  });

  it('of values far from zero is not a flat line', () => {
    expect(amountTicks(1_000_000, 1_000_010)[0]).toBeGreaterThanOrEqual(999_990);
  });
});

describe('an axis of time', () => {
  it('has at least two labels, all within the window, and few enough to read', () => {
    const from = fc.integer({ min: 0, max: Date.UTC(2100, 0) });
    const width = fc.double({ min: 1, max: 40 * 365 * 86_400_000, noNaN: true });
    fc.assert(
      fc.property(from, width, fc.integer({ min: 0, max: 9 }), (start, long, digits) => {
        const end = start + Math.max(1, Math.round(long / 10 ** digits));
        const ticks = timeTicks(start, end);
        expect(ticks.length).toBeGreaterThanOrEqual(2);
        expect(ticks.length).toBeLessThanOrEqual(10);
        for (const { at, text } of ticks) {
          expect(at >= start && at <= end).toBe(true);
          expect(text).not.toBe('');
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the window of a chart', () => {
  const hour = 3_600_000;
  const lines = [
    { points: [[50 * hour, null] as const, [60 * hour, '1'] as const, [61 * hour, '2'] as const] },
  ];

  it('starts with the record, unless its start was requested', () => {
    expect(windowOfRecord([0, 90 * hour], lines, true)).toEqual([60 * hour, 90 * hour]);
    expect(windowOfRecord([0, 90 * hour], lines, false)).toEqual([0, 90 * hour]);
    expect(windowOfRecord([60.5 * hour, 90 * hour], lines, true)).toEqual([60.5 * hour, 90 * hour]);
    expect(windowOfRecord([0, 90 * hour], [], true)).toEqual([0, 90 * hour]);
  });

  it('of a single new point is wide enough to be visible', () => {
    const [from, to] = windowOfRecord([0, 60 * hour], lines, true);
    expect(to - from).toBe(600_000);
  });
});

it('draws a point without neighbours as a dot, and a line without dots', () => {
  const shape = { draws: 'line' as const, x: (at: number) => at / 10, y: () => 0.5 };
  expect(dotsOf([[1, '5']], shape)).toBe('M1000 5000h0');
  expect(
    dotsOf(
      [
        [1, '5'],
        [2, '6'],
      ],
      shape,
    ),
  ).toBe('');
  expect(
    dotsOf(
      [
        [1, '5'],
        [2, '6'],
        [3, null],
        [4, '7'],
        [5, null],
      ],
      shape,
    ),
  ).toBe('M4000 5000h0');
  expect(dotsOf([[1, '5']], { ...shape, draws: 'steps' })).toBe('M1000 5000h0');
});
