import { openCommitPool } from '../../src/db/client.ts';
import { connect } from '../../src/db/connect.ts';
import { onOwnConnection } from '../../src/db/own-connection.ts';
import { openQueuePool } from '../../src/db/queue-pool.ts';
import { sessionSettings } from '../../src/db/session.ts';

/** Properties of a session. */
export interface Session {
  readonly ssl: boolean;
  readonly work_mem: string;
  readonly name: string;
  readonly encoding: string;
  readonly user: string;
  readonly database: string;
}

/** Reads the properties of a session. */
export const SESSION_QUERY = `select (select ssl from pg_stat_ssl where pid = pg_backend_pid()) as ssl,
  current_setting('work_mem') as work_mem, current_setting('application_name') as name,
  current_setting('client_encoding') as encoding, current_user as user, current_database() as database`;

type DatabaseConnection = readonly [string, (url: string) => Promise<Session | undefined>];

/** Each way of the recorder to connect to a server, with both drivers, and its query. */
export const DATABASE_CONNECTIONS: readonly DatabaseConnection[] = [
  [
    'the client of the data path',
    async (url) => {
      const sql = connect(url, 30_000, { max: 1, connection: sessionSettings('work') });
      const query = sql.unsafe<Session[]>(SESSION_QUERY);
      return query.then(([session]) => session).finally(() => sql.end({ timeout: 1 }));
    },
  ],
  [
    'the client of commits',
    async (url) => {
      const sql = openCommitPool(url, 1);
      const query = sql.unsafe<Session[]>(SESSION_QUERY);
      return query.then(([session]) => session).finally(() => sql.end({ timeout: 1 }));
    },
  ],
  [
    "the queue's pool",
    async (url) => {
      const pool = openQueuePool(url, 'bullmq', () => {});
      const query = pool.query<Session>(SESSION_QUERY);
      return query.then(({ rows: [session] }) => session).finally(() => pool.end());
    },
  ],
  [
    'a connection for one piece of work',
    (url) =>
      onOwnConnection(url, sessionSettings('export'), new AbortController().signal, async (client) => {
        const { rows } = await client.query<Session>(SESSION_QUERY);
        return rows[0];
      }),
  ],
];
