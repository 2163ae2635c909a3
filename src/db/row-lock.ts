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

/** Work that only one process of a database does at a time, by the name of its row. */
export const LOCKS = {
  migrate: 'migrate',
  /** Schedules of the recorder without a name. */
  schedules: 'schedules',
  seal: 'seal',
  compare: 'compare',
  close: 'close',
  export: 'export',
  /** Removal of data that is older than its retention. */
  retain: 'retain',
  /** Assignment of a commit's number; held by transactions. */
  changes: 'changes',
} as const;

/**
 * unique_violation, duplicate_schema, duplicate_table: another process created the same object at the same
 * time.
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
 * SQL query that locks the row of a lock, waiting for it if necessary.
 * @param condition SQL that must be true before the query waits
 */
export const lockRow = (name: keyof typeof LOCKS, condition = 'true'): string =>
  `select name from ${TABLE} where name = '${LOCKS[name]}' and ${condition} for no key update`;

/**
 * Runs work that only one process may do at a time. The lock has a session and a transaction of its own and
 * ends with them, so no unlock statement is needed. In postgres.js 3.4.9, a statement on a reserved
 * connection that was closed ends the process, and no handler can catch the error.
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
