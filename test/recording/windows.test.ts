import fc from 'fast-check';
import postgres from 'postgres';
import { afterAll, describe, expect, inject, it } from 'vitest';
import type { Window } from '../../src/datasets/contract.ts';
import { clipWindows, parseMultirange, splitWindow, subtractWindows } from '../../src/recording/windows.ts';

const window = fc
  .tuple(fc.integer({ min: -30, max: 30 }), fc.integer({ min: 1, max: 20 }))
  .map(([from, length]): Window => ({ from, to: from + length }));
const windows = fc.array(window, { maxLength: 8 });

/** Every whole number in the windows. */
function members(parts: readonly Window[]): Set<number> {
  return new Set(parts.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, at) => from + at)));
}

describe('subtract', () => {
  it('returns the parts of the whole outside all others, oldest first, not empty, not adjacent', () => {
    fc.assert(
      fc.property(window, windows, (whole, parts) => {
        const remaining = subtractWindows(whole, parts);
        const covered = members(parts);
        expect(members(remaining)).toEqual(new Set([...members([whole])].filter((one) => !covered.has(one))));
        remaining.forEach(({ from, to }, at) => {
          expect(from).toBeLessThan(to);
          expect(from).toBeGreaterThan(remaining[at - 1]?.to ?? Number.NEGATIVE_INFINITY);
        });
      }),
    );
  });
});

describe('upTo', () => {
  it('returns what lies before the instant', () => {
    fc.assert(
      fc.property(windows, fc.integer({ min: -40, max: 60 }), (parts, until) => {
        const clipped = clipWindows(parts, until);
        expect(members(clipped)).toEqual(new Set([...members(parts)].filter((one) => one < until)));
        expect(clipped.every(({ from, to }) => from < to)).toBe(true);
      }),
    );
  });
});

describe('pieces', () => {
  it('tile the window newest first, all of full length but the oldest', () => {
    fc.assert(
      fc.property(window, fc.integer({ min: 1, max: 12 }), (whole, span) => {
        const pieces = splitWindow(whole, span);
        expect(pieces[0]?.to).toBe(whole.to);
        expect(pieces.at(-1)?.from).toBe(whole.from);
        pieces.forEach(({ from, to }, at) => {
          const oldest = at === pieces.length - 1;
          expect(to - from).toSatisfy((length: number) =>
            oldest ? length > 0 && length <= span : length === span,
          );
          if (!oldest) expect(pieces[at + 1]?.to).toBe(from);
        });
      }),
    );
  });

  it('cuts nothing of an empty window', () => {
    expect(splitWindow({ from: 5, to: 5 }, 3)).toEqual([]);
  });
});

describe('parseMultirange', () => {
  const sql = postgres(inject('databaseUrl'), { max: 1 });
  afterAll(() => sql.end());

  it('parses multiranges of PostgreSQL, also far from zero', async () => {
    const far = fc.constantFrom(0, 1_763_600_000_000, -62_135_596_800_000);
    await fc.assert(
      fc.asyncProperty(windows, far, async (parts, shift) => {
        const shifted = parts.map(({ from, to }) => ({ from: from + shift, to: to + shift }));
        const literal = `{${shifted.map(({ from, to }) => `[${from},${to})`).join(',')}}`;
        const [row] = await sql<{ text: string }[]>`select ${literal}::text::int8multirange::text as text`;
        const parsed = parseMultirange(row?.text ?? '');
        expect(members(parsed.map(({ from, to }) => ({ from: from - shift, to: to - shift })))).toEqual(
          members(parts),
        );
      }),
    );
  });

  it('parses an empty one', () => {
    expect(parseMultirange('{}')).toEqual([]);
  });
});
