import { count, rfc3339 } from '../datasets/fields.ts';
import { entriesOf, memberOf } from '../datasets/sources/answer.ts';
import { type Room, roomForReport, storableError, storableMessage, storableName } from './health-texts.ts';

/** Check name of the probe as a whole. */
export const WHOLE = '*';
/** Check name for all checks beyond the limit. */
export const MORE = '(more)';
const MOST_CHECKS = 1_000;
const MOST_NAMED = 50;
const LONGEST_TIMESTAMP = 64;
const instant = rfc3339();
const times = count();

/** One check of a report. All texts can be stored in PostgreSQL. */
export interface CheckSaid {
  readonly name: string;
  readonly state: 'up' | 'down' | 'unknown';
  /** Why the check failed, or why its state is unknown. */
  readonly error: string | null;
  /** JSON text: message of a failing check, in addition to its error. */
  readonly message: string | null;
  /** Time of the last execution by the node, in the format of the node. */
  readonly timestamp: string | null;
  /** Time of the first failure as reported by the node, ISO 8601. */
  readonly failingSince: string | null;
  /** Number of consecutive failures as reported by the node. */
  readonly failures: number | null;
}

/** Result of a query, for the probe as a whole, and for its checks if there was a report. */
export interface HealthSaid {
  readonly state: 'up' | 'down' | 'unknown';
  readonly error: string | null;
  readonly checks: readonly CheckSaid[] | null;
}

/**
 * Converts a response of the source `node-health`. Every response has a result. An unhealthy report is
 * `down`, independently of its checks. It is `unknown` only if all checks that are not up have not run yet.
 */
export function readHealth(body: unknown): HealthSaid {
  const room = roomForReport();
  const failure = memberOf(body, 'failure');
  if (typeof failure === 'string') {
    const state = memberOf(body, 'state') === 'down' ? 'down' : 'unknown';
    return { state, error: storableError(failure, room), checks: null };
  }
  const checks = checksOf(memberOf(body, 'checks'), room);
  return { ...wholeOf(memberOf(body, 'healthy') === true, checks), checks };
}

/** Returns the state of the probe as a whole. A check that has not run yet does not count as failing. */
function wholeOf(healthy: boolean, checks: readonly CheckSaid[]): Pick<HealthSaid, 'state' | 'error'> {
  if (healthy) return { state: 'up', error: null };
  const named = (state: string) => checks.filter((check) => check.state === state).map(({ name }) => name);
  const [failing, waiting] = [named('down'), named('unknown')];
  if (failing.length === 0 && waiting.length > 0)
    return { state: 'unknown', error: `not yet run: ${listed(waiting)}` };
  return { state: 'down', error: `failing: ${listed(failing) || 'no check named'}` };
}

/** Returns a list of names for an error text, truncated if there are many. */
export function listed(names: readonly string[]): string {
  const rest = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** Severity of states. If several checks are recorded as one, the highest counts. */
export const GRAVITY = { up: 0, maintenance: 0, unknown: 1, down: 2 } as const;
const RESERVED: ReadonlySet<string> = new Set([WHOLE, MORE]);

function checksOf(checks: unknown, room: Room): CheckSaid[] {
  const all = entriesOf(checks);
  // Sorted, so that every query keeps the same checks, independently of their order in the response.
  const kept = all.length > MOST_CHECKS ? all.sort(([one], [other]) => (one < other ? -1 : 1)) : all;
  const byName = new Map<string, CheckSaid>();
  kept.forEach(([name, check], at) => {
    const reading = checkOf(at < MOST_CHECKS ? storableName(name, RESERVED) : MORE, check, room);
    const same = byName.get(reading.name);
    if (!same || GRAVITY[reading.state] > GRAVITY[same.state]) byName.set(reading.name, reading);
  });
  return [...byName.values()];
}

/** Error texts of checks that have not run yet (reality.md 4.2, 6). */
const NOT_YET_RUN = /^(?:not yet run|didn't run yet)$/i;

function checkOf(name: string, check: unknown, room: Room): CheckSaid {
  const stamp = memberOf(check, 'timestamp');
  const timestamp = typeof stamp === 'string' ? storableError(stamp.slice(0, LONGEST_TIMESTAMP), room) : null;
  const nothing = { message: null, timestamp, failingSince: null, failures: null };
  const why = errorIn(check);
  // The timestamp of a check before its first run is in year 1.
  if (timestamp?.startsWith('0001-') || (why !== undefined && NOT_YET_RUN.test(why.trim())))
    return { name, state: 'unknown', error: storableError(why ?? 'not yet run', room), ...nothing };
  if (why === undefined) return { name, state: 'up', error: null, ...nothing };
  const message = memberOf(check, 'message');
  const since = instant.safeParse(memberOf(check, 'timeOfFirstFailure')).data;
  const failures = times.safeParse(memberOf(check, 'contiguousFailures')).data;
  return {
    name,
    state: 'down',
    error: storableError(why, room),
    message: message === undefined ? null : storableMessage(message, room),
    timestamp,
    failingSince: since === undefined || since.startsWith('0001-') ? null : since,
    failures: failures === undefined ? null : Number(failures),
  };
}

/** Returns the error of a check. It is a text, or an object on older nodes. */
function errorIn(check: unknown): string | undefined {
  const error = memberOf(check, 'error');
  if (error === undefined || error === null) return undefined;
  const text = memberOf(error, 'message') ?? error;
  return typeof text === 'string' ? text : storableMessage(text, roomForReport());
}
