import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isoText } from '../../src/datasets/iso-text.ts';

const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

it('formats an instant as Date does', () => {
  const near = fc
    .tuple(
      fc.integer({ min: 0, max: LATEST - 200_000_000 }),
      fc.array(fc.nat({ max: 200_000_000 }), { maxLength: 20 }),
    )
    .map(([start, steps]) => steps.map((step) => start + step));
  fc.assert(
    fc.property(fc.oneof(near, fc.array(fc.integer({ min: 0, max: LATEST }))), (instants) => {
      expect(instants.map(isoText)).toEqual(instants.map((instant) => new Date(instant).toISOString()));
    }),
    {
      examples: [[[0, 999, 86_399_999, 86_400_000, LATEST, Date.UTC(2024, 1, 29), Date.UTC(2024, 2, 1) - 1]]],
    },
  );
});
