import type postgres from 'postgres';
import { connect, connectPool } from './connect.ts';
import { sessionSettings, silenceOf } from './session.ts';

/** The clients of postgres.js by purpose. `ormOf` returns Drizzle for each client. */
export interface Database {
  /** Client for the data path: single statements only, never a transaction. */
  readonly sql: postgres.Sql;
  /** Client for the commits of runs. */
  readonly commits: postgres.Sql;
  /**
   * Client for reads only, such as those of the HTTP server. Many or slow reads never delay the recording.
   */
  readonly reader: postgres.Sql;
  close(): Promise<void>;
}

/** Options of every connection of the recorder. */
export const CONNECTION_OPTIONS = {
  connect_timeout: 10,
  // In s. The driver's default reaches 20 s in one outage, because it counts the failures of all connections
  // together.
  backoff: (failures: number) => Math.min(failures / 10, 2) * (0.5 + Math.random() / 2),
  // No pipelining: a heartbeat must not wait for a commit, and no statement may be queued on a dead
  // connection.
  max_pipeline: 0,
  onnotice: () => {},
  connection: sessionSettings('work'),
};

/** Session settings of commits, see {@link openCommitPool}. */
export const COMMIT_SETTINGS = {
  ...CONNECTION_OPTIONS.connection,
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
};

const READER_OPTIONS = {
  ...CONNECTION_OPTIONS,
  connection: sessionSettings('reader'),
};

const COMPARISON_OPTIONS = {
  ...CONNECTION_OPTIONS,
  max: 1,
  connection: {
    ...sessionSettings('checks'),
    // The planner assumes that a table without statistics is nearly empty, and would compare all rows with
    // all rows.
    enable_nestloop: 'off',
  },
};

/**
 * Opens the connections for the commits of runs. Planning a commit takes up to 3 ms, several times as long as
 * executing a small one. So each connection keeps its first plan (`force_generic_plan`), which may date from
 * a time when the tables were small. That plan has to suit tables of any size, so it must find rows by their
 * keys. Without `enable_seqscan = off` it would read whole tables for each row of a commit, until PostgreSQL
 * analyzes them.
 */
export const openCommitPool = (url: string, max: number): postgres.Sql =>
  connectPool(url, silenceOf('work'), { ...CONNECTION_OPTIONS, max, connection: COMMIT_SETTINGS });

/**
 * Opens the database. Connections are opened when they are needed.
 * @param url postgres://…, as in DATABASE_URL
 */
export function openDatabase(url: string): Database {
  // Ten runs may commit at the same time. Each has one more statement, which renews its lease and waits for
  // the commit.
  const sql = connectPool(url, silenceOf('work'), { ...CONNECTION_OPTIONS, max: 12 });
  const commits = openCommitPool(url, 10);
  const reader = connectPool(url, silenceOf('reader'), { ...READER_OPTIONS, max: 2 });
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
 * Opens one connection for sealing, verifying and closing days, which read much and may take long. The
 * connection runs one statement at a time on one core, with 32 MB of memory for sorting.
 * @param longest timeout of a statement, in ms
 */
export function openSealConnection(url: string, longest: number): postgres.Sql {
  return connect(url, longest + 5_000, {
    ...CONNECTION_OPTIONS,
    max: 1,
    connection: {
      ...sessionSettings('seal'),
      statement_timeout: longest,
      max_parallel_workers_per_gather: '0',
      work_mem: '32MB',
      // The planner estimates the rows of a CTE. After a wrong estimate, a nested loop would compare all rows
      // with all rows.
      enable_nestloop: 'off',
    },
  });
}

/** Opens one connection for comparisons of recorded data. Recording never waits for them. */
export function openComparisonConnection(url: string): postgres.Sql {
  return connect(url, silenceOf('checks'), COMPARISON_OPTIONS);
}

/**
 * Opens one connection for the rules of alerts. The connection only reads, on one core; recording never waits
 * for it.
 */
export function openAlertConnection(url: string): postgres.Sql {
  return connectPool(url, silenceOf('alerts'), {
    ...CONNECTION_OPTIONS,
    max: 1,
    connection: { ...sessionSettings('alerts'), max_parallel_workers_per_gather: '0' },
  });
}
