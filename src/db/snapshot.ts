import type { Readable } from 'node:stream';
import copyStreams from 'pg-copy-streams';
import { onOwnConnection } from './own-connection.ts';
import { sessionSettings } from './session.ts';

/** What was committed up to one moment, read by statements one after another. */
export interface Snapshot {
  /** The rows of one statement. */
  rows(text: string): Promise<Record<string, unknown>[]>;
  /** The rows of a SELECT in PostgreSQL's binary form of COPY, as fast as they are read. It has to be read to its end. */
  copy(select: string): Readable;
}

/** So much memory a sort may take; what is more goes to the server's disk. */
const SORTING = '64MB';

/**
 * Reads in one transaction that sees one moment (repeatable read, read-only), on a connection of its own and on one core.
 * @param signal cuts the connection
 * @throws when the connection is lost: every statement on it fails
 */
export async function withSnapshot<T>(
  url: string,
  signal: AbortSignal,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const settings = {
    ...sessionSettings('export'),
    work_mem: SORTING,
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
