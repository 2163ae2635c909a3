import { readFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import type postgres from 'postgres';

/**
 * Nice values of sessions of the embedded server, in addition to that of the recorder. On a machine that is
 * busy with other programs, a page takes 3 times as long with a nice value of 4 as with 0. With 10, a page
 * takes 9 times as long and exceeds its statement timeout.
 */
export const NICENESS = { page: 4, query: 10 } as const;

/**
 * Lowers the CPU priority of a session of the embedded server, so that recording takes precedence over
 * reading. If the system does not allow this change, the priority is unchanged.
 * @param session a client of one connection
 */
export async function lowerPriority(session: postgres.Sql, reader: keyof typeof NICENESS): Promise<void> {
  const [row] = await session<{ pid: number }[]>`select pg_backend_pid() as pid`;
  try {
    if (row && isPostgres(row.pid))
      setPriority(row.pid, Math.min(getPriority() + NICENESS[reader], constants.priority.PRIORITY_LOW));
  } catch {
    // The session ended, or its process belongs to another user. Its priority is unchanged.
  }
}

/**
 * Returns true if the process id belongs to PostgreSQL. Another recorder may have restarted the server in its
 * own PID namespace; then another process of this PID namespace may have that id.
 */
const isPostgres = (pid: number) =>
  process.platform !== 'linux' || readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres';
