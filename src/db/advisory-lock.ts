import { CONNECTION } from './client.ts';
import { connect } from './connect.ts';
import { silenceOf } from './session.ts';

/**
 * Does something that only one process may do at a time. The advisory lock ends with a session of its own, so that
 * nothing is left to be unlocked on a connection that may be gone: with postgres.js 3.4.9 a statement on a reserved
 * connection that was cut ends the process, and nothing catches it.
 * @param silence how long a connection may be silent before it is given up, ms; the lock's own is kept from that,
 * however long the work takes
 * @returns null where another process is at it
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
