import type postgres from 'postgres';
import type { TcpProxy } from '../../chaos/servers/proxy.ts';
import { until } from '../../chaos/until.ts';
import { CONNECTION_OPTIONS } from '../../src/db/client.ts';
import { connectPool } from '../../src/db/connect.ts';

/** The error codes of a statement whose connection was lost. */
const LOST = new Set(['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', '57P01']);

/** Waits until a statement is running. */
export const waitUntilRunning = (watcher: postgres.Sql, statement: string): Promise<boolean> =>
  until(`${statement} to be carried out`, async () => {
    const found = await watcher`
      select from pg_stat_activity where datname = current_database() and query = ${statement} and state = 'active'`;
    return found.length > 0;
  });

/** Returns `answered` for the expected result, `another answer`, or the code of the error. */
const outcomeOf = (query: Promise<readonly { readonly n: number }[]>): Promise<string> =>
  query.then(
    (rows) => (rows.length === 1 && rows[0]?.n === 1 ? 'answered' : 'another answer'),
    (error: { readonly code?: string }) => String(error.code),
  );

/**
 * Closes all connections of a pool repeatedly while some wait for a response. Those callers query again at that moment,
 * and others query then.
 * @param url of the database by the proxy @param watcher queries the database by another connection
 * @returns the results of both kinds of queries that were neither answered nor reported as lost
 */
export async function loseAllConnections(
  proxy: TcpProxy,
  url: string,
  watcher: postgres.Sql,
  how: 'end' | 'reset',
): Promise<string[]> {
  // Statements end with their clients.
  const connection = { ...CONNECTION_OPTIONS.connection, client_connection_check_interval: '50' };
  const sql = connectPool(url, 35_000, { ...CONNECTION_OPTIONS, connection, max: 3 });
  const one = () => outcomeOf(sql<{ n: number }[]>`select 1 as n`);
  const outcomes: string[] = [];
  for (let round = 0; round < 12; round++) {
    outcomes.push(...(await Promise.all([one(), one(), one(), one()])));
    const slow = `select pg_sleep(20) as round_${round}`;
    const outcome = sql.unsafe(slow).then(() => 'slept', one);
    await waitUntilRunning(watcher, slow);
    proxy[how]();
    outcomes.push(await outcome);
  }
  await sql.end({ timeout: 1 });
  return outcomes.filter((outcome) => outcome !== 'answered' && !LOST.has(outcome));
}
