import { withDatabase } from '../support/fixture.ts';
import { compareMonth } from './month.ts';

const { it, sql } = withDatabase();

it('a month with every cause of the table equals its expected intervals, to the second', async () => {
  await compareMonth(sql, { part: 1, windows: 1_000, round: 240, alerts: 0.2 });
}, 1_800_000);
