import { withDatabase } from '../support/fixture.ts';
import { compareMonth } from './month.ts';

const { it, sql } = withDatabase();

it('a month of short days with every cause of the table equals its expected intervals, to the second', async () => {
  await compareMonth(sql, { part: 1 / 12, windows: 60, round: 120, alerts: 0.12 });
}, 120_000);
