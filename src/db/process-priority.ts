import { readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import type postgres from 'postgres';

/**
 * Gives a session of the embedded server less of a processor that others want too, so that recording goes before reading. What a
 * system does not allow stays as it was.
 * @param session a client of one connection
 */
export async function yieldToOthers(session: postgres.Sql): Promise<void> {
  const [row] = await session<{ pid: number }[]>`select pg_backend_pid() as pid`;
  try {
    if (row && isPostgres(row.pid)) setPriority(row.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The session ended, or its process is another user's: it is read as fast as ever.
  }
}

/** Another recorder may have restarted the server in its own PID namespace: then the number is of another process here. */
const isPostgres = (pid: number) =>
  process.platform !== 'linux' || readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres';
