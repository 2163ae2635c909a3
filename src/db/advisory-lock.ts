import { CONNECTION } from './client.ts';
import { connect } from './connect.ts';
import { silenceOf } from './session.ts';

/** What one process of a database does at a time, by the number of its advisory lock; the numbers are this project's own. */
export const LOCKS = {
  migrate: 7_310_202_611,
  /** Of the recorder without a name. */
  schedules: 7_310_202_612,
  seal: 7_310_202_613,
  compare: 7_310_202_614,
  close: 7_310_202_615,
  export: 7_310_202_616,
  /** Of who removes what need not be kept any more. */
  retain: 7_310_202_617,
  restore: 7_310_202_618,
  /** Of who draws the number of a commit; held by transactions. */
  changes: 7_310_202_619,
} as const;

/**
 * Runs work that only one process may do at a time. The advisory lock has a session of its own and ends with it, so
 * that no unlock statement is needed: with postgres.js 3.4.9 a statement on a reserved connection that was cut ends the
 * process, and no handler can catch it.
 * @param silence how long a connection may be silent before it is closed, ms. The lock's connection is kept alive,
 * however long the work takes.
 * @returns the result of the work; null when another process holds the lock
 */
export async function withAdvisoryLock<T>(
  url: string,
  lock: number,
  work: () => Promise<T>,
  silence = silenceOf('work'),
): Promise<T | null> {
  const session = connect(url, silence, { ...CONNECTION, max: 1 });
  let heartbeat: NodeJS.Timeout | undefined;
  try {
    const [row] = await session<{ mine: boolean }[]>`select pg_try_advisory_lock(${lock}) as mine`;
    if (!row?.mine) return null;
    heartbeat = setInterval(() => void session`select 1`.catch(() => {}), silence / 4);
    return await work();
  } finally {
    clearInterval(heartbeat);
    await session.end({ timeout: 1 });
  }
}
