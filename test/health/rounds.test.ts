import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ProbeSchedule } from '../../src/health/rounds.ts';

it('schedules each probe once an interval, evenly distributed', () => {
  const rounds = new ProbeSchedule(['a', 'b', 'c', 'd'], 60_000, 1_000);
  const scheduled: [number, string][] = [];
  for (let now = 0; now < 121_000; now += 500)
    for (const { probe, planned } of rounds.due(now, 100)) {
      expect(now - planned).toBeLessThan(500);
      scheduled.push([planned, probe]);
    }
  expect(scheduled).toEqual([
    [1_000, 'a'],
    [16_000, 'b'],
    [31_000, 'c'],
    [46_000, 'd'],
    [61_000, 'a'],
    [76_000, 'b'],
    [91_000, 'c'],
    [106_000, 'd'],
  ]);
  expect(rounds.missed).toBe(0);
});

it('schedules every probe once after a long pause, and counts the missed ones', () => {
  const rounds = new ProbeSchedule(['a', 'b', 'c'], 30_000, 0);
  rounds.due(0, 100);
  const late = rounds.due(600_000, 2);
  expect([late.length, rounds.late(600_000)]).toEqual([2, true]);
  expect(new Set([...late, ...rounds.due(600_000, 100)].map(({ probe }) => probe))).toEqual(
    new Set(['a', 'b', 'c']),
  );
  expect([rounds.late(600_000), rounds.missed]).toEqual([false, 57]);
});

it('skips no probe, whatever the number, the interval and the steps', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 5_000, max: 60_000 }),
      fc.array(fc.integer({ min: 1, max: 4_000 }), { minLength: 50, maxLength: 200 }),
      (count, every, steps) => {
        const rounds = new ProbeSchedule([...Array(count).keys()], every, 0);
        const last = new Map<number, number>();
        let now = 0;
        for (const step of steps) {
          now += step;
          for (const { probe } of rounds.due(now, 1_000)) last.set(probe, now);
          expect(rounds.next).toBeGreaterThan(now);
        }
        if (now >= every) expect(Math.min(...last.values())).toBeGreaterThanOrEqual(now - every - 4_000);
        if (now >= every) expect(last.size).toBe(count);
        expect(rounds.missed).toBe(0);
      },
    ),
  );
});
