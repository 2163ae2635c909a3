import type postgres from 'postgres';
import { withRowLock } from '../db/row-lock.ts';

/**
 * Runs work on a separate connection, unless another process holds the lock. A stop closes the connection,
 * even during a statement: each statement is then applied completely or not at all.
 * @param sql the connection, which is closed at the end
 * @param lock name of one of the `LOCKS`
 */
export async function withExclusiveLock(
  databaseUrl: string,
  lock: string,
  sql: postgres.Sql,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  const stop = () => void sql.end({ timeout: 0 }).catch(() => {});
  signal.addEventListener('abort', stop, { once: true });
  try {
    await withRowLock(databaseUrl, lock, work);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    await sql.end({ timeout: 1 }).catch(() => {});
  }
}
