import { count, rfc3339 } from '../datasets/fields.ts';
import { entriesOf, memberOf } from '../datasets/sources/answer.ts';
import { type Room, roomForReport, storableError, storableMessage, storableName } from './health-texts.ts';

/** The check that stands for the probe as a whole. */
export const WHOLE = '*';
/** The check that all checks beyond a limit are recorded as. */
export const MORE = '(more)';
const MOST_CHECKS = 1_000;
const MOST_NAMED = 50;
const LONGEST_TIMESTAMP = 64;
const instant = rfc3339();
const times = count();

/** One check of a report. All texts can be stored as they are. */
export interface CheckSaid {
  readonly name: string;
  readonly state: 'up' | 'down' | 'unknown';
  /** Why it failed, or why nobody can tell. */
  readonly error: string | null;
  /** JSON text: the message of a failing check, beside its error. */
  readonly message: string | null;
  /** When the node last ran it, as the node writes it. */
  readonly timestamp: string | null;
  /** Since when it fails, by the node's own account, as ISO 8601. */
  readonly failingSince: string | null;
  /** How often it failed in a row, by the node's own count. */
  readonly failures: number | null;
}

/** The result of a look: for the probe as a whole, and for its checks where there was a report. */
export interface HealthSaid {
  readonly state: 'up' | 'down' | 'unknown';
  readonly error: string | null;
  readonly checks: readonly CheckSaid[] | null;
}

/**
 * Reads an answer of the source `node-health`. Every answer has a reading. An unhealthy report is `down`, whatever its
 * checks look like; it is `unknown` only when all checks that are not up have not run yet.
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

/** The probe as a whole. A check that has not run yet does not count as failing. */
function wholeOf(healthy: boolean, checks: readonly CheckSaid[]): Pick<HealthSaid, 'state' | 'error'> {
  if (healthy) return { state: 'up', error: null };
  const named = (state: string) => checks.filter((check) => check.state === state).map(({ name }) => name);
  const [failing, waiting] = [named('down'), named('unknown')];
  if (failing.length === 0 && waiting.length > 0)
    return { state: 'unknown', error: `not yet run: ${listed(waiting)}` };
  return { state: 'down', error: `failing: ${listed(failing) || 'no check named'}` };
}

/** Names for the text of an error; only the first ones where there are many. */
export function listed(names: readonly string[]): string {
  const rest = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** The state that counts where several checks are recorded as one. */
export const GRAVITY = { up: 0, maintenance: 0, unknown: 1, down: 2 } as const;
const RESERVED: ReadonlySet<string> = new Set([WHOLE, MORE]);

function checksOf(checks: unknown, room: Room): CheckSaid[] {
  const all = entriesOf(checks);
  // Sorted, so that every look keeps the same ones, whatever their order in the answer.
  const kept = all.length > MOST_CHECKS ? all.sort(([one], [other]) => (one < other ? -1 : 1)) : all;
  const byName = new Map<string, CheckSaid>();
  kept.forEach(([name, check], at) => {
    const reading = checkOf(at < MOST_CHECKS ? storableName(name, RESERVED) : MORE, check, room);
    const same = byName.get(reading.name);
    if (!same || GRAVITY[reading.state] > GRAVITY[same.state]) byName.set(reading.name, reading);
  });
  return [...byName.values()];
}

/** Errors by which nodes say that a check has not run (reality.md 4.2, 6). */
const NOT_YET_RUN = /^(?:not yet run|didn't run yet)$/i;

function checkOf(name: string, check: unknown, room: Room): CheckSaid {
  const stamp = memberOf(check, 'timestamp');
  const timestamp = typeof stamp === 'string' ? storableError(stamp.slice(0, LONGEST_TIMESTAMP), room) : null;
  const nothing = { message: null, timestamp, failingSince: null, failures: null };
  const why = errorIn(check);
  // Before its first run a check has a time in year 1.
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

/** Why a check failed: a text, or on older nodes an object. */
function errorIn(check: unknown): string | undefined {
  const error = memberOf(check, 'error');
  if (error === undefined || error === null) return undefined;
  const text = memberOf(error, 'message') ?? error;
  return typeof text === 'string' ? text : storableMessage(text, roomForReport());
}
