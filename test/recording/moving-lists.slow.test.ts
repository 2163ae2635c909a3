import postgres from 'postgres';
import { expect, it } from 'vitest';
import { testDatabase } from '../support/database.ts';
import { checkMovingLists } from './moving-lists.ts';

it('keeps what is listed, and ends what left, in 2,000 lists that move while they are read', async () => {
  const database = await testDatabase();
  const sql = postgres(database.url, { max: 4, onnotice: () => {} });
  try {
    const stakes = await checkMovingLists(sql, 2_000);
    expect(Math.min(...Object.values(stakes)), JSON.stringify(stakes)).toBeGreaterThan(200);
  } finally {
    await sql.end();
    await database.close();
  }
});
