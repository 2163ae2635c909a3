import type postgres from 'postgres';
import type { Environment } from '../config/environment.ts';
import { lagText, REPORTED_LAG_SECONDS, Replica } from '../db/replica.ts';
import type { CheckResult } from '../lib/check-result.ts';

/**
 * Checks that the configured replica, if any, can be read instead of the primary, and how far it lags behind.
 */
export async function checkReplica(
  { reportingUrl }: Pick<Environment, 'reportingUrl'>,
  primary: postgres.Sql,
): Promise<CheckResult[]> {
  if (reportingUrl === undefined) return [];
  const replica = new Replica(reportingUrl);
  const check = 'replica';
  try {
    const found = await replica.look(primary);
    const about = `${replica.place}: ${found.error ?? lagText(found)}`;
    if (found.error !== null)
      return [{ check, ok: false, found: about, fix: 'correct REPORTING_DATABASE_URL, or see its log' }];
    if ((found.lagSeconds ?? 0) > REPORTED_LAG_SECONDS)
      return [
        {
          check,
          ok: false,
          found: about,
          fix: 'look at its load and network, and at statements there that hold up its replay',
        },
      ];
    const [row] = await replica.sql<{ standby: boolean; feedback: boolean }[]>`
      select pg_is_in_recovery() as standby, current_setting('hot_standby_feedback')::boolean as feedback`;
    const hint =
      row?.standby && !row.feedback
        ? '; hot_standby_feedback is off there: long reads, such as exports, may be cancelled while the primary cleans up'
        : '';
    const itself = row?.standby ? '' : '; it is the primary itself, and spares it nothing';
    return [{ check, ok: true, found: `${about}${hint}${itself}` }];
  } finally {
    await replica.close();
  }
}
