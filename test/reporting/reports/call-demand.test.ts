import { describe, expect, it } from 'vitest';
import { catalogNames } from '../../../src/app/configured-feeds.ts';
import { validateConfig } from '../../../src/config/load.ts';
import { beyondBudget, demands } from '../../../src/reporting/reports/call-demand.ts';
import type { Forecast } from '../../../src/reporting/reports/forecast.ts';

const cost = (units: number) => ({ calls: units, units });
const forecast = (upstream: string, perDay: number): Forecast => ({
  datasets: ['any'],
  upstream,
  targets: 1,
  every: 60_000,
  round: cost(1),
  hour: cost(perDay / 24),
  day: cost(perDay),
  sweepsOfDay: 0,
  backlog: 0,
});

function demand(perDays: readonly number[], budget?: object) {
  const config = validateConfig(
    {
      network: 'mainnet',
      upstreams: {
        metrics: { url: 'http://127.0.0.1:1', ...(budget ? { budget } : {}) },
        nodes: [{ name: 'one', url: 'http://127.0.0.1:1' }],
      },
    },
    catalogNames,
    'test',
  );
  const forecasts = perDays.map((units) => forecast('metrics', units));
  return demands([...forecasts, forecast('nodes', 1e9), forecast('chainData', 1e9)], config);
}
const warnings = (perDays: readonly number[], budget?: object) => demand(perDays, budget).map(beyondBudget);

describe('the requests of the schedules to an upstream', () => {
  it('are the sum over its schedules, and over no others', () => {
    expect(demand([240, 2400], { perDay: 5000 })).toEqual([
      {
        upstream: 'metrics',
        unitsPerHour: 110,
        unitsPerDay: 2640,
        limitPerMinute: null,
        limitPerDay: 5000,
        allowedPerDay: 5000,
      },
    ]);
  });

  it.each([
    ['no budget', [1e9], undefined],
    ['a budget without limits', [1e9], {}],
    ['all of a day', [1000, 440], { perDay: 1440 }],
    ['all minutes of a day', [1440], { perMinute: 1 }],
  ])('fit into %s', (_, perDays, budget) => expect(warnings(perDays, budget)).toEqual([null]));

  it.each([
    ['a day', [2000, 880], { perDay: 1440 }, '(perDay)'],
    ['the minutes of a day', [2880], { perMinute: 1 }, '(perMinute × 1440)'],
    ['the smaller of both', [2880], { perMinute: 1, perDay: 5000 }, '(perMinute × 1440)'],
  ])('beyond %s are reported with figures', (_, perDays, budget, limit) => {
    const [warning] = warnings(perDays, budget);
    expect(warning).toContain(
      'metrics: the schedules request 2880 units a day, 2.0 times the 1440 of its budget',
    );
    expect(warning).toContain(limit);
  });
});
