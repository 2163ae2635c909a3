import postgres from 'postgres';
import { CONNECTION } from './client.ts';

/**
 * Does something that only one process may do at a time. The advisory lock ends with a session of its own, so that
 * nothing is left to be unlocked on a connection that may be gone: with postgres.js 3.4.9 a statement on a reserved
 * connection that was cut ends the process, and nothing catches it.
 * @returns null where another process is at it
 */
export async function alone<T>(url: string, lock: number, work: () => Promise<T>): Promise<T | null> {
  const session = postgres(url, { ...CONNECTION, max: 1 });
  try {
    const [row] = await session<{ mine: boolean }[]>`select pg_try_advisory_lock(${lock}) as mine`;
    return row?.mine ? await work() : null;
  } finally {
    await session.end({ timeout: 1 });
  }
}
