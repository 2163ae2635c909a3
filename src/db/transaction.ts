import postgres from 'postgres';
import { connect } from './connect.ts';
import { sessionSettings } from './session.ts';

/**
 * Maximum wait for a lock, in ms. Later requests for locks on the same table wait behind the transaction for
 * as long.
 */
const LOCK_TIMEOUT_MS = 2_000;

/**
 * Runs `work` in one transaction on a separate connection. Either all changes are committed or none. In
 * postgres.js 3.4.9, `sql.begin` never settles if its connection is closed. So `begin` and `commit` are sent
 * as single statements by a client with one connection. The driver replaces a lost connection without an
 * error. The new session is read-only and lacks the savepoint, so statements after a loss fail instead of
 * being committed separately.
 * @param signal closes the connection, also within a statement: nothing is committed then
 */
export async function inOneTransaction<T>(
  url: string,
  signal: AbortSignal | undefined,
  work: (sql: postgres.Sql) => Promise<T>,
): Promise<T> {
  const connection: Record<string, string> = {
    ...sessionSettings('migration'),
    default_transaction_read_only: 'on',
    lock_timeout: String(LOCK_TIMEOUT_MS),
  };
  const sql = connect(url, 0, { max: 1, onnotice: () => {}, connection });
  const abort = () => void sql.end({ timeout: 0 }).catch(() => {});
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await sql.unsafe('begin read write; savepoint whole');
    const result = await work(sql);
    await sql.unsafe('release savepoint whole; commit');
    return result;
  } finally {
    signal?.removeEventListener('abort', abort);
    // Uncommitted changes end with the connection.
    await sql.end({ timeout: 0 });
  }
}

/** SQLSTATEs after which the whole transaction has to be retried: lock_not_available, deadlock_detected. */
const RETRIED_CODES: ReadonlySet<unknown> = new Set(['55P03', '40P01']);

/** The error with which PostgreSQL refused a statement. */
export interface StatementRefusal extends Error {
  readonly detail?: string | undefined;
  /** PostgreSQL's SQLSTATE. */
  readonly code?: string;
}

/**
 * Executes statements within the transaction. If PostgreSQL refuses one statement, none takes effect.
 * @returns the refusal, or null if all statements were executed
 */
export async function attempt(sql: postgres.Sql, statements: string): Promise<StatementRefusal | null> {
  await sql.unsafe('savepoint attempt');
  try {
    await sql.unsafe(joinStatements([statements, 'release savepoint attempt']));
    return null;
  } catch (error) {
    // FATAL: the connection was lost, and the transaction with it.
    const refused = error instanceof postgres.PostgresError && error.severity === 'ERROR';
    if (!refused || RETRIED_CODES.has(error.code)) throw error;
    await sql.unsafe('rollback to savepoint attempt; release savepoint attempt');
    return error;
  }
}

/**
 * Joins statements into one text, which needs one round trip. If one statement is refused, none takes effect.
 */
export const joinStatements = (statements: readonly string[]): string => statements.join('\n;\n');
