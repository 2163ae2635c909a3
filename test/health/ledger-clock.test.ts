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
function advance(milliseconds: number) {
  const changes = [];
  for (let elapsed = 0; elapsed < milliseconds; elapsed += 1_000) {
    wall += 1_000;
    steady += 1_000;
    const change = clock.compare();
    if (change) changes.push(change);
  }
  return changes;
}

describe('the time of the ledger', () => {
  it('is the wall clock while it is not changed, also after sleep', () => {
    advance(minute);
    wall += hour;
    steady += hour;
    expect([clock.compare(), clock.isDoubtful, clock.toWall(steady)]).toEqual([null, false, wall]);
  });

  it('follows a clock that drifts', () => {
    wall += 900;
    expect([clock.compare(), clock.isDoubtful]).toEqual([null, false]);
  });

  it.each([2 * hour, -2 * hour])('ignores a clock change of %d ms that is reverted', (by) => {
    advance(minute);
    wall += by;
    expect([advance(40 * second), clock.isDoubtful, clock.disagreement]).toEqual([[], true, by]);
    wall -= by;
    expect([advance(minute), clock.isDoubtful]).toEqual([[], false]);
    expect(clock.toWall(steady)).toBe(wall);
    expect(clock.toWall(steady - 2 * minute)).toBe(wall - 2 * minute);
  });

  it('follows a lasting move forward: the skipped time is unobserved', () => {
    advance(minute);
    const before = wall;
    wall += 2 * hour;
    const [change] = advance(6 * minute);
    expect(change).toEqual({ by: 2 * hour, skipped: { from: before, to: before + 2 * hour } });
    expect(clock.isDoubtful).toBe(false);
    expect(clock.toWall(steady)).toBe(wall);
    expect(clock.toWall(steady - 7 * minute)).toBe(wall - 7 * minute - 2 * hour);
  });

  it('stops after a permanent move back, until the clock has passed the written time', () => {
    advance(minute);
    const written = wall;
    wall -= 2 * hour;
    const [change] = advance(6 * minute);
    expect(change).toEqual({ by: -2 * hour, skipped: null });
    expect(clock.toWall(steady)).toBe(written);
    advance(2 * hour);
    expect(wall).toBeGreaterThan(written);
    expect(clock.toWall(steady)).toBe(wall);
  });

  it('gives late-written moments their true time, however often the clock has moved since', () => {
    advance(minute);
    const [moment, expected] = [steady, wall];
    for (const by of [2 * hour, -hour, 3 * hour]) {
      advance(minute);
      wall += by;
      advance(minute);
      expect(clock.toWall(moment)).toBe(expected);
    }
  });

  it('does not go below the time that an earlier process wrote', () => {
    const laterClock = new LedgerClock(
      () => wall,
      () => steady,
      start + hour,
    );
    expect(laterClock.toWall(steady)).toBe(start + hour);
    expect(laterClock.toWall(steady + 2 * hour)).toBe(start + 2 * hour);
  });
});
