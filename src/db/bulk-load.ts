import type { Writable } from 'node:stream';
import copyStreams from 'pg-copy-streams';
import { onOwnConnection } from './own-connection.ts';
import { sessionSettings } from './session.ts';

/** One transaction that writes tables. */
export interface Loading {
  /** The rows of one statement. */
  rows(text: string, values?: readonly string[]): Promise<Record<string, unknown>[]>;
  /** Takes rows in PostgreSQL's text form of COPY. @param into the table and its columns */
  copy(into: string): Writable;
}

/**
 * Writes in one transaction, on a connection of its own: all of it or nothing.
 * @param signal cuts the connection, and with it the transaction
 * @throws when the connection is lost: every statement on it fails
 */
export async function withLoading<T>(
  url: string,
  signal: AbortSignal,
  work: (loading: Loading) => Promise<T>,
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
