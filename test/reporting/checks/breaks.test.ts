import { describe, expect, it } from 'vitest';
import { Metrics } from '../../../sandbox/metrics/metrics.ts';
import { evmChains } from '../../../sandbox/network/evm-chains.ts';
import { findLevelShifts, type SeriesDay } from '../../../src/reporting/checks/breaks.ts';
import { chance } from './recorded-year.ts';

const DAY = 86_400_000;
const START = Date.UTC(2025, 0, 1);
const at = (day: number) => START + day * DAY;

/** A year of a chain: weekends are quieter, days differ by a tenth, and it grows by this amount a week. */
function year(name: string, growth = 0): SeriesDay[] {
  return Array.from({ length: 365 }, (_, day) => ({
    at: at(day),
    value: Math.round(
      100_000 *
        (1 + growth) ** (day / 7) *
        ((new Date(at(day)).getUTCDay() + 6) % 7 >= 5 ? 0.7 : 1) *
        (0.9 + 0.2 * chance(`${name} ${day}`)),
    ),
  }));
}

const changeValues = (days: readonly SeriesDay[], by: (day: number, value: number) => number): SeriesDay[] =>
  days.map((one) => ({ at: one.at, value: by(Math.round((one.at - START) / DAY), one.value) }));

describe('a lasting change of level', () => {
  it.each([
    ['is halved', 0.5],
    ['doubles', 2],
    ['loses a third', 0.66],
    ['is ten times as high', 10],
    ['falls to nothing', 0],
  ])('and %s is found on its day', (_, factor) => {
    for (const cut of [60, 183, 200, 300]) {
      const days = changeValues(year(`${factor} ${cut}`), (day, value) =>
        day >= cut ? value * factor : value,
      );
      const found = findLevelShifts(days);
      expect(found.map((one) => new Date(one.at))).toEqual([new Date(at(cut))]);
      expect((found[0]?.after ?? 0) / (found[0]?.before ?? 1)).toBeCloseTo(factor, factor > 1 ? -1 : 1);
    }
  });

  it('is found beside growth, a missing fortnight elsewhere, and a wrong day', () => {
    const days = changeValues(year('growing', 0.03), (day, value) =>
      day === 120 ? 1 : day >= 250 ? value / 2 : value,
    ).filter((one) => one.at < at(40) || one.at >= at(54));
    expect(findLevelShifts(days).map((one) => new Date(one.at))).toEqual([new Date(at(250))]);
  });

  it('twice is found twice', () => {
    const days = changeValues(year('twice'), (day, value) => (day >= 100 && day < 240 ? value * 3 : value));
    expect(findLevelShifts(days).map((one) => one.at)).toEqual([at(100), at(240)]);
  });

  it('is not reported before its third week', () => {
    const cut = (length: number) =>
      findLevelShifts(
        changeValues(year('late'), (day, value) => (day >= 200 ? value / 2 : value)).slice(0, length),
      );
    expect(cut(200 + 14)).toEqual([]);
    expect(cut(200 + 21)).toHaveLength(1);
  });
});

describe('no change of level', () => {
  it.each<[string, (day: number, value: number) => number]>([
    ['nothing', (_, value) => value],
    ['an outage of a day', (day, value) => (day === 150 ? 0 : value)],
    ['an outage of a week', (day, value) => (day >= 150 && day < 157 ? 0 : value)],
    ['a fortnight of three times as much', (day, value) => (day >= 150 && day < 164 ? value * 3 : value)],
    ['days off by 3.4 %', (day, value) => (day % 50 === 7 ? value * 1.034 : value)],
    [
      'two days that are swapped',
      (day, value) => (day === 180 ? value * 0.7 : day === 183 ? value / 0.7 : value),
    ],
    ['growth to five times as much', (day, value) => value * 5 ** (day / 365)],
    ['a decline to a fifth', (day, value) => value / 5 ** (day / 365)],
    [
      'growth by two thirds over two months',
      (day, value) => value * (1 + Math.min(1, Math.max(0, (day - 150) / 60)) * 0.67),
    ],
  ])('is %s', (name, by) => {
    expect(findLevelShifts(changeValues(year(name), by))).toEqual([]);
  });

  it('is an empty series, one of zeros, or a short one', () => {
    expect(findLevelShifts([])).toEqual([]);
    expect(findLevelShifts(changeValues(year('zeros'), () => 0))).toEqual([]);
    expect(findLevelShifts(year('short').slice(0, 20))).toEqual([]);
  });

  it('is found in a year of any chain of the sandbox, whose weeks differ by up to a half', () => {
    let [halved, found] = [0, 0];
    for (const seed of [1, 2, 3]) {
      const metrics = new Metrics(seed, evmChains(START / 1000));
      for (const chain of ['43114', '43113', '888001', '888002'])
        for (const metric of [
          'txCount',
          'activeAddresses',
          'gasUsed',
          'contracts',
          'avgTps',
          'maxGps',
          'feesPaid',
        ] as const) {
          const end = at(420) / 1000;
          const days = metrics
            .points(chain, metric, 'day', { from: 0, to: end, limit: 1_000 }, end + 7 * 86_400)
            .map(([start, value]) => ({ at: start * 1000, value }))
            .reverse();
          expect({ seed, chain, metric, breaks: findLevelShifts(days) }).toEqual({
            seed,
            chain,
            metric,
            breaks: [],
          });
          if (chain === '888002') continue; // 17 transactions a day
          const breaks = findLevelShifts(
            changeValues(days, (day, value) => (day >= 303 ? value / 2 : value)),
          );
          halved += 1;
          found += Number(breaks.some((one) => Math.abs(one.at - at(303)) <= DAY));
        }
    }
    expect(found / halved).toBeGreaterThan(0.8);
  });
});
