import type { Config } from '../../config/schema.ts';
import type { ConfiguredFeed } from '../../recording/active-feed.ts';
import type { Forecast } from './forecast.ts';

const MINUTES_OF_DAY = 1440;

/** The total demand of all schedules on a metered upstream, and the configured limit, in budget units. */
export interface Demand {
  readonly upstream: string;
  readonly unitsPerHour: number;
  readonly unitsPerDay: number;
  /** The declared limit per minute; null if no limit is declared. */
  readonly limitPerMinute: number | null;
  /** The declared limit per day; null if no limit is declared. */
  readonly limitPerDay: number | null;
  /** The maximum per day under both limits; null if no limit is declared. */
  readonly allowedPerDay: number | null;
}

const METERED = ['chainData', 'metrics'] as const;

/** Returns true if a watched source calls an upstream with a budget. */
export const isMetered = ({ source }: ConfiguredFeed): boolean =>
  METERED.some((one) => one === source.upstream);

/** Adds up the forecasts for each metered upstream in the configuration. */
export function demands(forecasts: readonly Forecast[], { upstreams }: Pick<Config, 'upstreams'>): Demand[] {
  return METERED.flatMap((upstream) => {
    const service = upstreams[upstream];
    if (!service) return [];
    const mine = forecasts.filter((one) => one.upstream === upstream);
    const { perMinute = null, perDay = null } = service.budget ?? {};
    const most = Math.min(
      perDay ?? Number.POSITIVE_INFINITY,
      perMinute === null ? Number.POSITIVE_INFINITY : perMinute * MINUTES_OF_DAY,
    );
    return [
      {
        upstream,
        unitsPerHour: mine.reduce((sum, { hour }) => sum + hour.units, 0),
        unitsPerDay: mine.reduce((sum, { day }) => sum + day.units, 0),
        limitPerMinute: perMinute,
        limitPerDay: perDay,
        allowedPerDay: Number.isFinite(most) ? most : null,
      },
    ];
  });
}

/**
 * Returns a sentence about a demand that exceeds its budget, with numbers and a fix. Returns null if the
 * demand does not exceed the budget, or no limit is declared.
 */
export function beyondBudget({ upstream, unitsPerDay, allowedPerDay, limitPerDay }: Demand): string | null {
  if (allowedPerDay === null || unitsPerDay <= allowedPerDay) return null;
  const limit = allowedPerDay === limitPerDay ? 'perDay' : 'perMinute × 1440';
  const times = (unitsPerDay / allowedPerDay).toFixed(1);
  return (
    `${upstream}: the schedules request ${unitsPerDay} units a day, ${times} times the ${allowedPerDay} of its budget (${limit}): ` +
    'a part of the data will always be late; poll less often (datasets.D.every), watch less, or declare a larger budget'
  );
}
