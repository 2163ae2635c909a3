import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { messageOf } from '../errors.ts';
import { sessionSettings } from './session.ts';

/** Errors of a database that is away or not ready yet, as opposed to one that refuses us. */
const AWAY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  '57P01', // it is being stopped
  '57P02',
  '57P03', // it is starting
  '53300', // all its connections are taken
]);

/** What `pg` says of a connection that broke, without a code. */
const BROKEN =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 5_000;
const SAY_EVERY = 30_000;

/** Whether an error means that the database cannot be reached now, so that trying again later may help. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && AWAY.has(String(error.code))) || BROKEN.test(error.message);
}

/**
 * Waits until the database takes connections. @param tell told why it waits, now and then
 * @throws the database's error when it refuses us, such as for a wrong password; nothing once the signal came
 */
export async function untilReachable(
  url: string,
  signal: AbortSignal,
  tell: (cause: string) => void,
): Promise<void> {
  let toldAt = Number.NEGATIVE_INFINITY;
  for (let pause = FIRST_PAUSE; !signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    const client = postgres(url, {
      max: 1,
      connect_timeout: 5,
      onnotice: () => {},
      connection: sessionSettings('work'),
    });
    try {
      await client`select 1`;
      return;
    } catch (error) {
      if (!isAway(error)) throw error;
      if (performance.now() - toldAt >= SAY_EVERY) {
        tell(messageOf(error));
        toldAt = performance.now();
      }
    } finally {
      await client.end({ timeout: 1 });
    }
    await delay(pause, undefined, { signal }).catch(() => {});
  }
}
