import type postgres from 'postgres';
import type { TcpProxy } from '../../chaos/servers/proxy.ts';
import { until } from '../../chaos/waiting.ts';
import { CONNECTION_OPTIONS } from '../../src/db/client.ts';
import { connectPool } from '../../src/db/connect.ts';

/** The codes by which a statement whose connection was lost is told. */
const LOST = new Set(['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', '57P01']);

/** Waits until a statement is being carried out. */
export const underWay = (watcher: postgres.Sql, statement: string): Promise<boolean> =>
  until(`${statement} to be carried out`, async () => {
    const found = await watcher`
      select from pg_stat_activity where datname = current_database() and query = ${statement} and state = 'active'`;
    return found.length > 0;
  });

/** `answered` with what was asked for, `another answer`, or the code of the error. */
const outcomeOf = (asked: Promise<readonly { readonly n: number }[]>): Promise<string> =>
  asked.then(
    (rows) => (rows.length === 1 && rows[0]?.n === 1 ? 'answered' : 'another answer'),
    (error: { readonly code?: string }) => String(error.code),
  );

/**
 * Loses all connections of a pool, some of which wait for an answer, again and again. Who waits asks again at that moment, and
 * some ask then.
 * @param url of the database by the proxy @param watcher asks the database on another way
 * @returns what became of what was asked again, and of what was asked then, where it was neither answered nor told as lost
 */
export async function losingAll(
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
    const asked = sql.unsafe(slow).then(() => 'slept', one);
    await underWay(watcher, slow);
    proxy[how]();
    outcomes.push(await asked);
  }
  await sql.end({ timeout: 1 });
  return outcomes.filter((outcome) => outcome !== 'answered' && !LOST.has(outcome));
}
