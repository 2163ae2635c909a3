import type { Readable } from 'node:stream';
import copyStreams from 'pg-copy-streams';
import { onOwnConnection } from './own-connection.ts';
import { sessionSettings } from './session.ts';

/** The data committed up to one moment, read by consecutive statements. */
export interface Snapshot {
  /** Returns the rows of one statement. */
  rows(text: string): Promise<Record<string, unknown>[]>;
  /**
   * Streams the rows of a SELECT in the binary format of COPY, at the speed of the reader. The stream has to
   * be read to its end.
   */
  copy(select: string): Readable;
}

/** Maximum memory of a sort. Larger sorts use the server's disk. */
const SORT_MEMORY = '64MB';

/**
 * Runs `work` in one repeatable-read, read-only transaction, on a separate connection and on one core.
 * @param signal closes the connection
 * @throws the error of the lost connection: every statement on it fails
 */
export async function withSnapshot<T>(
  url: string,
  signal: AbortSignal,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const settings = {
    ...sessionSettings('export'),
    work_mem: SORT_MEMORY,
    max_parallel_workers_per_gather: '0',
  };
  return onOwnConnection(url, settings, signal, async (client) => {
    await client.query('begin transaction isolation level repeatable read read only');
    return work({
      rows: async (text) => (await client.query<Record<string, unknown>>(text)).rows,
      copy: (select) => client.query(copyStreams.to(`copy (${select}) to stdout (format binary)`)),
    });
  });
}
