import copyStreams from 'pg-copy-streams';
import { readCopy, type TextRow } from './copy-text.ts';
import { onOwnConnection } from './own-connection.ts';
import { sessionSettings } from './session.ts';

/** The data committed up to one moment, read by consecutive statements. */
export interface Snapshot {
  /** Returns the rows of one statement. */
  rows(text: string): Promise<Record<string, unknown>[]>;
  /** Yields the rows of a SELECT at the speed of the reader, which has to read all of them. */
  copy(select: string): AsyncIterable<readonly TextRow[]>;
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
      copy: (select) => readCopy(client.query(copyStreams.to(`copy (${select}) to stdout`))),
    });
  });
}
