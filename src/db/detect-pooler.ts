import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { UsageError } from '../lib/errors.ts';
import { connect } from './connect.ts';
import { isAway } from './connection-error.ts';
import { sessionSettings, silenceOf } from './session.ts';

/** The longest wait for the first answer, ms: through a pooler that has no connection left it would not end. */
const PATIENCE = 10_000;

/** What poolers such as PgBouncer say of settings in a start packet that they do not pass on. */
const REFUSED = '08P01';

/** Why a pooler is not used, and what to do. */
export const POOLER =
  'it does not pass on the settings of a session, as PostgreSQL does: it is a pooler, such as PgBouncer. The recorder needs sessions of its own, ' +
  'for time limits, locks, LISTEN and temporary tables';
export const NAME_ITSELF = (variable: string) => `name PostgreSQL itself in ${variable}`;

/** Whether an error is that of a pooler that refuses the settings of a session. */
export const isPoolers = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.code === REFUSED;

/**
 * Asks a session that was opened with `sessionSettings('work')` for its settings: some poolers are told to drop in silence what they
 * do not know, and then no statement would have a limit of time.
 * @throws UsageError when there is a pooler between; whatever else the connection throws
 */
export async function refusePooler(session: postgres.Sql, variable: string): Promise<void> {
  const problem = new UsageError([`${variable}: ${POOLER}: ${NAME_ITSELF(variable)}`]);
  const { statement_timeout: wanted } = sessionSettings('work');
  try {
    const [row] = await session<{ found: string }[]>`
      select setting as found from pg_catalog.pg_settings where name = 'statement_timeout'`;
    if (row?.found !== wanted) throw problem;
  } catch (error) {
    throw isPoolers(error) ? problem : error;
  }
}

/**
 * {@link refusePooler} on a connection of its own. A server that is away, or gives no answer in time, is no pooler.
 * @throws UsageError when there is a pooler between; the server's error when it refuses the connection
 */
export async function refusePoolerAt(url: string, variable: string): Promise<void> {
  const session = connect(url, silenceOf('work'), {
    max: 1,
    connect_timeout: PATIENCE / 1000,
    onnotice: () => {},
    connection: sessionSettings('work'),
  });
  const over = new AbortController();
  const late = delay(PATIENCE, undefined, { signal: over.signal });
  late.catch(() => {});
  try {
    await Promise.race([
      refusePooler(session, variable).catch((error: unknown) => {
        if (!isAway(error)) throw error;
      }),
      late,
    ]);
  } finally {
    over.abort();
    await session.end({ timeout: 0 });
  }
}
