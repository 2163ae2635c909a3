import { Socket } from 'node:net';
import pg from 'pg';
import { guardedClient } from './guarded-client.ts';
import { serversOf } from './servers.ts';
import { sessionOptions, sessionSettings, silenceOf } from './session.ts';

/** A statement that is prepared once on each connection, and the shape of its rows. */
export interface Prepared<Row> {
  readonly name: string;
  readonly text: string;
  /** For the type only; nobody sets it. */
  readonly rows?: readonly Row[];
}

let statements = 0;

/** Names a statement, so that it is prepared once on each connection. Its text has to live as long as the process. */
export function prepared<Row>(text: string): Prepared<Row> {
  statements += 1;
  return { name: `statement_${statements}`, text };
}

/**
 * Asks single statements whose parameters may be bytes in PostgreSQL's binary form: postgres.js sends texts only, which PostgreSQL has to
 * parse and this process to keep. One statement at a time on each connection, never a transaction.
 */
export interface BulkClient {
  /** @throws what PostgreSQL refuses; an error of which `isAway` knows when the connection is lost: the statement may have been carried out */
  ask<Row extends pg.QueryResultRow>(statement: Prepared<Row>, values: readonly unknown[]): Promise<Row[]>;
  /** Ends the connections once their statements are answered. */
  end(): Promise<void>;
}

/** Opens the client; connections are made when they are needed. @param url as in DATABASE_URL @param most connections at once */
export function openBulk(url: string, most: number): BulkClient {
  const servers = serversOf(url);
  const silence = silenceOf('work');
  // To plan a commit anew takes up to three milliseconds, several times what a small one takes; its plan is the same whatever its rows.
  const pool = new pg.Pool({
    connectionString: servers.url,
    options: sessionOptions({ ...sessionSettings('work'), plan_cache_mode: 'force_generic_plan' }),
    max: most,
    Client: guardedClient(servers),
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: silence / 2,
    keepAlive: true,
  });
  pool.on('error', () => {}); // a connection that breaks while nobody uses it is made again when it is needed
  pool.on('connect', ({ connection: { stream } }) => {
    // The server ends every statement earlier: it is gone.
    if (stream instanceof Socket) stream.setTimeout(silence, () => stream.destroy());
  });
  return {
    ask: async <Row extends pg.QueryResultRow>({ name, text }: Prepared<Row>, values: readonly unknown[]) =>
      (await pool.query<Row>({ name, text, values: [...values] })).rows,
    end: () => pool.end(),
  };
}
