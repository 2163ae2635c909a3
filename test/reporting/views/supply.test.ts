import { expect } from 'vitest';
import { currentSupply } from '../../../src/datasets/node/current-supply.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../../support/scripted-feed.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const start = Date.UTC(2026, 0, 10);
const { it, sql } = withDatabase();

it('supply_over_time compares each day with the last reading of the previous day, also if the window starts within a day', async () => {
  const clock = new ManualClock(start);
  const feed = scriptedFeed(currentSupply, {
    node: 'n',
    subnetId: '11111111111111111111111111111111LpoYY',
  });
  for (const [at, supply] of [
    [2 * HOUR, 100],
    [DAY + 12 * HOUR, 130],
    [3 * DAY, 140],
  ] as const) {
    clock.now = start + at;
    feed.script = () => onlyPage({ supply: String(supply), height: '1' });
    await run(recordingContext(sql, clock.read), feed);
  }
  const changes = async (from: number) => {
    const rows = await sql<{ at: number; change: number | null }[]>`
      select day - ${new Date(start)}::date as at, change::int
      from reporting.supply_over_time(${new Date(start + from)}, ${new Date(start + 9 * DAY)}, ${new Date(start + 9 * DAY)})`;
    return rows.map(({ at, change }) => [at, change]);
  };
  expect(await changes(0)).toEqual([
    [0, null],
    [1, 30],
    [3, null],
  ]);
  expect(await changes(DAY + 3 * HOUR)).toEqual([
    [1, 30],
    [3, null],
  ]);
  expect(await changes(DAY + 13 * HOUR)).toEqual([[3, null]]);
});
