import { beforeEach, describe, expect, it } from 'vitest';
import { LedgerClock } from '../../src/health/ledger-clock.ts';

const start = Date.UTC(2026, 0, 1);
const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
let wall = 0;
let steady = 0;
let clock: LedgerClock;

beforeEach(() => {
  wall = start;
  steady = 5_000_000;
  clock = new LedgerClock(
    () => wall,
    () => steady,
  );
});

/** Lets time pass, with a reading of the clocks every second. @returns the accepted clock changes */
function pass(milliseconds: number) {
  const moves = [];
  for (let passed = 0; passed < milliseconds; passed += 1_000) {
    wall += 1_000;
    steady += 1_000;
    const moved = clock.compare();
    if (moved) moves.push(moved);
  }
  return moves;
}

describe('the time of the ledger', () => {
  it('is the wall clock while it is not changed, also after sleep', () => {
    pass(minute);
    wall += hour;
    steady += hour;
    expect([clock.compare(), clock.isDoubtful, clock.toWall(steady)]).toEqual([null, false, wall]);
  });

  it('follows a clock that drifts', () => {
    wall += 900;
    expect([clock.compare(), clock.isDoubtful]).toEqual([null, false]);
  });

  it.each([2 * hour, -2 * hour])('ignores a clock change of %d ms that is reverted', (by) => {
    pass(minute);
    wall += by;
    expect([pass(40 * second), clock.isDoubtful, clock.disagreement]).toEqual([[], true, by]);
    wall -= by;
    expect([pass(minute), clock.isDoubtful]).toEqual([[], false]);
    expect(clock.toWall(steady)).toBe(wall);
    expect(clock.toWall(steady - 2 * minute)).toBe(wall - 2 * minute);
  });

  it('follows a lasting move forward: the skipped time is unobserved', () => {
    pass(minute);
    const before = wall;
    wall += 2 * hour;
    const [moved] = pass(6 * minute);
    expect(moved).toEqual({ by: 2 * hour, skipped: { from: before, to: before + 2 * hour } });
    expect(clock.isDoubtful).toBe(false);
    expect(clock.toWall(steady)).toBe(wall);
    expect(clock.toWall(steady - 7 * minute)).toBe(wall - 7 * minute - 2 * hour);
  });

  it('stops after a permanent move back, until the clock has passed the written time', () => {
    pass(minute);
    const written = wall;
    wall -= 2 * hour;
    const [moved] = pass(6 * minute);
    expect(moved).toEqual({ by: -2 * hour, skipped: null });
    expect(clock.toWall(steady)).toBe(written);
    pass(2 * hour);
    expect(wall).toBeGreaterThan(written);
    expect(clock.toWall(steady)).toBe(wall);
  });

  it('gives late-written moments their true time, however often the clock has moved since', () => {
    pass(minute);
    const [moment, when] = [steady, wall];
    for (const by of [2 * hour, -hour, 3 * hour]) {
      pass(minute);
      wall += by;
      pass(minute);
      expect(clock.toWall(moment)).toBe(when);
    }
  });

  it('does not go below the time that an earlier process wrote', () => {
    const later = new LedgerClock(
      () => wall,
      () => steady,
      start + hour,
    );
    expect(later.toWall(steady)).toBe(start + hour);
    expect(later.toWall(steady + 2 * hour)).toBe(start + 2 * hour);
  });
});
