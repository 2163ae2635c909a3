import type postgres from 'postgres';
import { expect } from 'vitest';

/** Waits until this many statements of this database wait for a lock that another one holds. */
export async function waitUntilBlocked(sql: postgres.Sql, statements = 1): Promise<void> {
  const countWaiting = async () => {
    const rows = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return rows.length;
  };
  await expect.poll(countWaiting, { interval: 10 }).toBeGreaterThanOrEqual(statements);
}
