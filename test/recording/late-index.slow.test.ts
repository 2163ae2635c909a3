import { expect } from 'vitest';
import { withDatabase } from '../support/fixture.ts';
import { checkLateIndexes } from './late-index.ts';

const { it, sql } = withDatabase({ max: 4 });

it('claims nothing missing, and leaves nothing missing, in 120 indexes that trail, stall and fail', async () => {
  const stakes = await checkLateIndexes(sql, 120);
  expect(Math.min(...Object.values(stakes)), JSON.stringify(stakes)).toBeGreaterThan(30);
}, 600_000);
