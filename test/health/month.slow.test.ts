import { withDatabase } from '../support/fixture.ts';
import { compareMonth } from './month.ts';

const { it, sql } = withDatabase();

it('a month with every cause equals its expected intervals, and 10,000 windows their uptime', async () => {
  await compareMonth(sql, { part: 1, windows: 10_000, round: 240, alerts: 0.27 });
}, 1_800_000);
