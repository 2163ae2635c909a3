import { Socket } from 'node:net';
import pg from 'pg';
import { guardedClient } from './guarded-client.ts';
import { serversOf } from './servers.ts';
import { sessionConfig, sessionSettings, silenceOf } from './session.ts';

/** A statement that is prepared and planned once on each connection, and the shape of its rows. */
export interface Prepared<Row> {
  readonly name: string;
  readonly text: string;
  /** For the type only; nobody sets it. */
  readonly rows?: readonly Row[];
}

/**
 * How sessions of commits are set up. To plan a commit anew takes up to three milliseconds, several times what a small one takes. So each
 * connection keeps its first plan, which may come from a time when the tables were small: it has to be good whatever comes, and finds rows by
 * their keys. Without the second setting it would read whole tables, once for each row of a commit, until PostgreSQL analyzes them.
 */
export const COMMITTING: Readonly<Record<string, string>> = {
  ...sessionSettings('work'),
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
};
/** How long statements under way may take when the connections are ended, ms; then they are cut off. */
const LAST_STATEMENTS = 5_000;

let statements = 0;

/** Names a statement, so that it is prepared once on each connection. Its text has to live as long as the process. */
export function prepared<Row = Record<string, unknown>>(text: string): Prepared<Row> {
  statements += 1;
  return { name: `statement_${statements}`, text };
}

/**
 * Asks single statements whose parameters may be bytes in PostgreSQL's binary form: postgres.js sends texts only, which PostgreSQL has to
 * parse and this process to keep. One statement at a time on each connection, never a transaction.
 */
export interface BulkClient {
  /** Whether no statement is under way. */
  isIdle(): boolean;
  /**
   * @param keepsPlan false: it is planned for this time only
   * @throws what PostgreSQL refuses; an error of which `isAway` knows when the connection is lost: the statement may have been carried out
   */
  ask<Row extends pg.QueryResultRow>(
    statement: Prepared<Row>,
    values: readonly unknown[],
    keepsPlan?: boolean,
  ): Promise<Row[]>;
  /** Ends the connections once their statements are answered, or after {@link LAST_STATEMENTS}: those fail as if the database had gone away. */
  end(): Promise<void>;
}

/** Opens the client; connections are made when they are needed. @param url as in DATABASE_URL @param most connections at once */
export function openBulk(url: string, most: number): BulkClient {
  const servers = serversOf(url);
  const silence = silenceOf('work');
  const sockets = new Set<Socket>();
  const pool = new pg.Pool({
    ...sessionConfig(COMMITTING),
    max: most,
    Client: guardedClient(servers),
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: silence / 2,
  });
  pool.on('error', () => {}); // a connection that breaks while nobody uses it is made again when it is needed
  pool.on('connect', ({ connection: { stream } }) => {
    if (!(stream instanceof Socket)) return;
    // The server ends every statement earlier: it is gone.
    stream.setTimeout(silence, () => stream.destroy());
    sockets.add(stream);
    stream.once('close', () => sockets.delete(stream));
  });
  return {
    isIdle: () => pool.idleCount === pool.totalCount && pool.waitingCount === 0,
    ask: async <Row extends pg.QueryResultRow>(
      statement: Prepared<Row>,
      values: readonly unknown[],
      keepsPlan = true,
    ) => (await pool.query<Row>(queryOf(statement, values, keepsPlan))).rows,
    end: async () => {
      const cutting = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, LAST_STATEMENTS);
      try {
        await pool.end();
      } finally {
        clearTimeout(cutting);
      }
    },
  };
}

/** A statement as `pg` is asked. */
export const queryOf = <Row>(
  { name, text }: Prepared<Row>,
  values: readonly unknown[],
  keepsPlan: boolean,
): pg.QueryConfig => ({ text, values: [...values], ...(keepsPlan && { name }) });
