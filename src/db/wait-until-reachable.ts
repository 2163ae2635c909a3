import { setTimeout as delay } from 'node:timers/promises';
import { toErrorMessage } from '../lib/errors.ts';
import { connect } from './connect.ts';
import { isDatabaseUnavailable } from './connection-error.ts';
import { refusePooler } from './detect-pooler.ts';
import { sessionSettings, silenceOf } from './session.ts';

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 5_000;
const REPORT_INTERVAL_MS = 30_000;

/**
 * Waits until the database accepts connections, or the signal aborts.
 * @param onWait called with the reason for the wait, at most every 30 s
 * @throws the database's error if it refuses the connection, such as for a wrong password
 * @throws UsageError if the connection runs through a pooler
 */
export async function waitUntilReachable(
  url: string,
  signal: AbortSignal,
  onWait: (cause: string) => void,
): Promise<void> {
  let reportedAt = Number.NEGATIVE_INFINITY;
  for (let pause = FIRST_PAUSE_MS; !signal.aborted; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    const client = connect(url, silenceOf('work'), {
      max: 1,
      connect_timeout: 5,
      onnotice: () => {},
      connection: sessionSettings('work'),
    });
    try {
      await refusePooler(client, 'DATABASE_URL');
      return;
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      if (performance.now() - reportedAt >= REPORT_INTERVAL_MS) {
        onWait(toErrorMessage(error));
        reportedAt = performance.now();
      }
    } finally {
      await client.end({ timeout: 1 });
    }
    await delay(pause, undefined, { signal }).catch(() => {});
  }
}
