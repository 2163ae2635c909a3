import type postgres from 'postgres';
import { CONNECTION_OPTIONS } from './client.ts';
import { connect } from './connect.ts';
import { silenceOf } from './session.ts';

/**
 * Schema of the locks. All roles of a database share the namespace of advisory locks, so any reader could hold
 * a lock of the recorder. Rows of a table without rights for readers are locked instead.
 */
export const LOCK_SCHEMA = 'recorder_locks';
const TABLE = `${LOCK_SCHEMA}.locks`;

/** Names of the locks: each for work that only one process of a database does at a time. */
export const LOCKS = {
  migrate: 'migrate',
  /** Work of the scheduler of a recorder that has no name. */
  schedules: 'schedules',
  /** Creation of the queue's tables and functions. */
  queue: 'queue',
  seal: 'seal',
  compare: 'compare',
  close: 'close',
  export: 'export',
  /** Removal of data that is older than its retention. */
  retain: 'retain',
  /** Assignment of a commit's number. Transactions hold this lock. */
  changes: 'changes',
} as const;

/**
 * SQLSTATEs of an object that another process created at the same time: unique_violation, duplicate_schema,
 * duplicate_table.
 */
const ALREADY_EXISTS_CODES: ReadonlySet<unknown> = new Set(['23505', '42P06', '42P07']);
const CREATE_ATTEMPTS = 20;

/** Creates the row of a lock, and the table if it is missing. Each statement is a transaction of its own. */
export async function createLock(sql: postgres.Sql, name: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const [table] = await sql<{ found: string | null }[]>`select to_regclass(${TABLE}) as found`;
      if (!table?.found)
        await sql.unsafe(
          `create schema if not exists ${LOCK_SCHEMA};
          create table if not exists ${TABLE} (name text primary key);
          comment on schema ${LOCK_SCHEMA} is 'Locks of work that only one process of chain-recorder does at a time.'`,
        );
      await sql.unsafe(`insert into ${TABLE} (name) values ($1) on conflict do nothing`, [name]);
      return;
    } catch (error) {
      const isCreated = error instanceof Error && 'code' in error && ALREADY_EXISTS_CODES.has(error.code);
      if (!isCreated || attempt === CREATE_ATTEMPTS) throw error;
    }
  }
}

/**
 * Returns the SQL query that locks the row of a lock. The query waits if another transaction holds the lock.
 * @param condition SQL condition; if the condition is false, the query neither locks nor waits
 */
export const lockRow = (name: keyof typeof LOCKS, condition = 'true'): string =>
  `select name from ${TABLE} where name = '${LOCKS[name]}' and ${condition} for no key update`;

/**
 * Runs work that only one process may do at a time. The lock has a separate session and transaction and ends
 * with these, so no unlock statement is needed. The session is not a reserved connection: in postgres.js
 * 3.4.9, a statement on a closed reserved connection ends the process, and no handler can catch the error.
 * @param silence time without data after which a connection is closed, in ms. A heartbeat keeps the lock's
 * connection alive, however long the work takes.
 * @returns the result of the work; null if another process holds the lock
 */
export async function withRowLock<T>(
  url: string,
  name: string,
  work: () => Promise<T>,
  silence = silenceOf('work'),
): Promise<T | null> {
  const session = connect(url, silence, { ...CONNECTION_OPTIONS, max: 1 });
  let heartbeat: NodeJS.Timeout | undefined;
  try {
    await createLock(session, name);
    await session.unsafe('begin');
    const rows = await session.unsafe(`select from ${TABLE} where name = $1 for no key update skip locked`, [
      name,
    ]);
    if (rows.length === 0) return null;
    heartbeat = setInterval(() => void session`select 1`.catch(() => {}), silence / 4);
    return await work();
  } finally {
    clearInterval(heartbeat);
    await session.end({ timeout: 1 });
  }
}
