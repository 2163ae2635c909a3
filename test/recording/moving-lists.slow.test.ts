import { expect } from 'vitest';
import { withDatabase } from '../support/fixture.ts';
import { checkMovingLists } from './moving-lists.ts';

const { it, sql } = withDatabase({ max: 4 });

it('keeps listed members, and ends removed ones, in 1,000 lists that change while they are read', async () => {
  const stakes = await checkMovingLists(sql, 1_000);
  expect(Math.min(...Object.values(stakes)), JSON.stringify(stakes)).toBeGreaterThan(70);
}, 600_000);
