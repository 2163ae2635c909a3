import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { activeFeeds, catalogNames } from '../../../src/app/configured-feeds.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { registerTargets } from '../../../src/recording/register.ts';
import { type Forecast, forecast } from '../../../src/reporting/reports/forecast.ts';
import { withDatabase } from '../../support/fixture.ts';

const { it, sql } = withDatabase();
const now = Date.UTC(2026, 0, 10, 12);
const DAY = 86_400_000;
/** Items of a target in a day: the blocks of a validator of mainnet, as counted in issues of its service. */
const ITEMS_A_DAY = 84;
const key = 'avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5';
const chain = '43114';

/** Forecasts an example whose watch lists are filled, after all of it was polled once. */
async function forecastOf(example: string): Promise<Forecast[]> {
  const path = fileURLToPath(new URL(`../../../examples/${example}`, import.meta.url));
  const config = loadConfig(path, catalogNames);
  const watched = activeFeeds({
    ...config,
    watch: {
      ...config.watch,
      nodeIds: ['NodeID-1', 'NodeID-2'],
      addresses: [`P-${key}`, `X-${key}`],
      evmAddresses: [{ chain, address: '0x1' }],
    },
  }).filter(({ targets }) => targets.length > 0);
  await sql`truncate recorder.targets, recorder.coverage cascade`;
  for (const feed of watched) {
    const { source } = feed;
    await registerTargets(sql, feed, now);
    if (!source.range?.index) continue;
    // A page of points spans three months, a page of other items a day.
    const shown =
      source.upstream === 'metrics' ? 90 * DAY : Math.round((source.range.index.page / ITEMS_A_DAY) * DAY);
    await sql`update recorder.targets set look_requests = 1, most_requests = 1, look_from = ${now - shown},
      look_to = ${now}, shown_from = ${source.range.axis === 'time' ? now - shown : null},
      usual_interval_ms = ${source.upstream === 'metrics' ? null : Math.round(DAY / ITEMS_A_DAY)} where source = ${source.name}`;
    await sql`insert into recorder.coverage (dataset, target_key, axis, covered, answered)
      select dataset, target_key, ${source.range.axis}, '{}', int8multirange(int8range(coalesce(expected_from, 0), ${now}))
      from recorder.target_datasets where source = ${source.name}`;
  }
  const polled = new Date(now - 60_000);
  await sql`update recorder.target_datasets set last_success_at = ${polled}, last_planned_at = ${polled}`;
  return forecast(sql, watched, now);
}

it.each(['validator.yaml', 'mainnet.yaml'])(
  'what is requested again adds at most a fifth to the calls of a day of %s, and the forecast counts it',
  async (example) => {
    const schedules = await forecastOf(example);
    for (const upstream of ['chainData', 'metrics', 'nodes']) {
      const some = schedules.filter((schedule) => schedule.upstream === upstream);
      const sweeps = some.reduce((sum, { sweepsOfDay }) => sum + sweepsOfDay, 0);
      const day = some.reduce((sum, { day }) => sum + day.calls, 0);
      expect(sweeps, `${upstream}: ${sweeps} of ${day}`).toBeLessThanOrEqual((day - sweeps) / 5);
    }
    const sweepsOf = (name: string) =>
      schedules.find(({ datasets }) => datasets.includes(name))?.sweepsOfDay ?? null;
    const targets = 2 * 3;
    // 14 days of 84 blocks are 12 pages of 100. An older window has its turn once in 30 days.
    const blocks = sweepsOf('proposed_blocks') ?? 0;
    expect(blocks).toBeGreaterThanOrEqual(targets * 12);
    expect(blocks).toBeLessThanOrEqual(targets * (12 + 2 * 12));
    expect(sweepsOf('staking_transactions')).toBe(1); // one window of one page
    // Of points each poll shows 90 days: only older windows have turns.
    if (example === 'mainnet.yaml') expect(sweepsOf('metric_points')).toBeLessThanOrEqual(29);
  },
);
