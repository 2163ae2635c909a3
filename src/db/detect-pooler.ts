import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { UsageError } from '../lib/errors.ts';
import { connect } from './connect.ts';
import { isDatabaseUnavailable } from './connection-error.ts';
import { sessionSettings, silenceOf } from './session.ts';

/** Timeout of the first response, in ms. A pooler without a free connection never responds. */
const ANSWER_TIMEOUT_MS = 10_000;

/** SQLSTATE with which poolers such as PgBouncer refuse session settings that they do not pass on. */
const POOLER_REFUSAL = '08P01';

/** Reason why a pooler is refused. */
export const POOLER_REASON =
  'the server does not keep the settings of a session, so it is a pooler, such as PgBouncer. The recorder needs sessions of its own, ' +
  'for time limits, locks, LISTEN and temporary tables';
export const poolerFix = (variable: string) => `connect to PostgreSQL directly in ${variable}`;

/** Returns whether a pooler refused the settings of a session. */
export const isPoolerRefusal = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && error.code === POOLER_REFUSAL;

/**
 * Verifies the settings of a session that was opened with `sessionSettings('work')`. Some poolers are
 * configured to drop unknown settings silently. Then statements would have no timeout.
 * @throws UsageError if the session runs through a pooler, and the errors of the connection
 */
export async function refusePooler(session: postgres.Sql, variable: string): Promise<void> {
  const problem = new UsageError([`${variable}: ${POOLER_REASON}: ${poolerFix(variable)}`]);
  const { statement_timeout: expected } = sessionSettings('work');
  try {
    const [row] = await session<{ found: string }[]>`
      select setting as found from pg_catalog.pg_settings where name = 'statement_timeout'`;
    if (row?.found !== expected) throw problem;
  } catch (error) {
    throw isPoolerRefusal(error) ? problem : error;
  }
}

/**
 * Runs {@link refusePooler} on a connection of its own. A server that is unavailable, or does not respond in
 * time, does not count as a pooler.
 * @throws UsageError if the connection runs through a pooler, and the server's error if the server refuses
 * the connection
 */
export async function refusePoolerAt(url: string, variable: string): Promise<void> {
  const session = connect(url, silenceOf('work'), {
    max: 1,
    connect_timeout: ANSWER_TIMEOUT_MS / 1000,
    onnotice: () => {},
    connection: sessionSettings('work'),
  });
  const over = new AbortController();
  const late = delay(ANSWER_TIMEOUT_MS, undefined, { signal: over.signal });
  late.catch(() => {});
  try {
    await Promise.race([
      refusePooler(session, variable).catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) throw error;
      }),
      late,
    ]);
  } finally {
    over.abort();
    await session.end({ timeout: 0 });
  }
}
