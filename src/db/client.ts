import type postgres from 'postgres';
import { connect, connectPool } from './connect.ts';
import { sessionSettings, silenceOf } from './session.ts';

/** The database as the recorder uses it: clients of postgres.js by purpose, each with Drizzle on it (`ormOf`). */
export interface Database {
  /** For the data path: single statements only, never a transaction. */
  readonly sql: postgres.Sql;
  /** For the commits of runs. */
  readonly commits: postgres.Sql;
  /** For reads only, such as the server's. Many or slow reads never delay the recording. */
  readonly reader: postgres.Sql;
  close(): Promise<void>;
}

/** How every connection of the recorder's work is set up. */
export const CONNECTION = {
  connect_timeout: 10,
  // In seconds. The driver's default reaches 20 s in one outage, because it counts the failures of all connections together.
  backoff: (failures: number) => Math.min(failures / 10, 2) * (0.5 + Math.random() / 2),
  // No pipelining: a heartbeat must not wait for a commit, and no statement for one on a dead connection.
  max_pipeline: 0,
  onnotice: () => {},
  connection: sessionSettings('work'),
};

/** How sessions of commits are set up, see {@link openCommitting}. */
export const COMMITTING = {
  ...CONNECTION.connection,
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
};

const LOOKING = {
  ...CONNECTION,
  connection: sessionSettings('reader'),
};

const COMPARING = {
  ...CONNECTION,
  max: 1,
  connection: {
    ...sessionSettings('checks'),
    // The planner takes a table that was never analyzed for nearly empty, and would compare all rows with all rows.
    enable_nestloop: 'off',
  },
};

/**
 * Opens connections for the commits of runs. To plan a commit takes up to three milliseconds, several times what a small one takes. So each
 * connection keeps its first plan, which may come from a time when the tables were small: it has to be good whatever comes, and finds rows by
 * their keys. Without the second setting it would read whole tables, once for each row of a commit, until PostgreSQL analyzes them.
 */
export const openCommitting = (url: string, max: number): postgres.Sql =>
  connectPool(url, silenceOf('work'), { ...CONNECTION, max, connection: COMMITTING });

/** Opens the database; connections are made when they are needed. @param url postgres://…, as in DATABASE_URL */
export function openDatabase(url: string): Database {
  // Ten runs at once may all commit, and each has one statement more that keeps its lease and waits for the commit.
  const sql = connectPool(url, silenceOf('work'), { ...CONNECTION, max: 12 });
  const commits = openCommitting(url, 10);
  const reader = connectPool(url, silenceOf('reader'), { ...LOOKING, max: 2 });
  return {
    sql,
    commits,
    reader,
    close: async () => {
      await Promise.all([sql, commits, reader].map((client) => client.end({ timeout: 5 })));
    },
  };
}

/**
 * Opens one connection for sealing, verifying and closing days, which read much and may take long: one statement at a time, on one core,
 * with some memory for sorting.
 * @param longest how long a statement may take, ms
 */
export function openSealing(url: string, longest: number): postgres.Sql {
  return connect(url, longest + 5_000, {
    ...CONNECTION,
    max: 1,
    connection: {
      ...sessionSettings('seal'),
      statement_timeout: longest,
      max_parallel_workers_per_gather: '0',
      work_mem: '32MB',
      // The planner guesses the rows of a CTE. After a wrong guess a nested loop would compare all rows with all rows.
      enable_nestloop: 'off',
    },
  });
}

/** Opens one connection for comparing what was recorded: however long that takes, recording waits for none of it. */
export function openComparing(url: string): postgres.Sql {
  return connect(url, silenceOf('checks'), COMPARING);
}

/** Opens a connection that asks the rules of alerts: it only reads, on one core, and recording waits for none of it. */
export function openAlerting(url: string): postgres.Sql {
  return connectPool(url, silenceOf('alerts'), {
    ...CONNECTION,
    max: 1,
    connection: { ...sessionSettings('alerts'), max_parallel_workers_per_gather: '0' },
  });
}
