import type { Writable } from 'node:stream';
import copyStreams from 'pg-copy-streams';
import { onOwnConnection } from './own-connection.ts';
import { sessionSettings } from './session.ts';

/** A transaction that writes tables. */
export interface BulkLoad {
  /** Runs one statement and returns its rows. */
  rows(text: string, values?: readonly string[]): Promise<Record<string, unknown>[]>;
  /**
   * Opens a stream for rows in the text format of COPY.
   * @param into the table and its columns
   */
  copy(into: string): Writable;
}

/**
 * Runs `work` in one transaction, on a separate connection. Either all changes are committed or none.
 * @param signal closes the connection, which rolls the transaction back
 * @throws the error of the lost connection: every statement on it fails
 */
export async function withBulkLoad<T>(
  url: string,
  signal: AbortSignal,
  work: (loading: BulkLoad) => Promise<T>,
): Promise<T> {
  return onOwnConnection(url, sessionSettings('restore'), signal, async (client) => {
    await client.query('begin');
    const result = await work({
      rows: async (text, values = []) =>
        (await client.query<Record<string, unknown>>(text, [...values])).rows,
      copy: (into) => client.query(copyStreams.from(`copy ${into} from stdin`)),
    });
    await client.query('commit');
    return result;
  });
}
