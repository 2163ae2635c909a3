import type postgres from 'postgres';
import { type BulkClient, openBulk } from '../../src/db/bulk-client.ts';

const opened = new WeakMap<postgres.Sql, BulkClient>();

/** The client of commits for the database of another client. Its connections end with the database. */
export function bulkFor(sql: postgres.Sql): BulkClient {
  const { path, host, port, user, pass, database } = sql.options;
  // The recorder's own clients have their place there.
  const url = new URL(`postgres://${path || `${host[0]}:${port[0]}`}/${database}`);
  url.username = user;
  url.password = String(pass ?? '');
  const bulk = opened.get(sql) ?? openBulk(url.href, 4);
  opened.set(sql, bulk);
  return bulk;
}
