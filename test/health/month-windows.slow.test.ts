import { withDatabase } from '../support/fixture.ts';
import { compareMonth } from './month.ts';

const { it, sql } = withDatabase();

it('10,000 windows of a month equal their expected uptime, to the millisecond', async () => {
  await compareMonth(sql, { part: 1 / 3, everyCause: 15, windows: 10_000, round: 240, alerts: 0.8 });
}, 900_000);
