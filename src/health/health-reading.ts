import { count, rfc3339 } from '../datasets/fields.ts';
import { getEntries, getMember } from '../datasets/sources/answer.ts';
import {
  createReportBudget,
  storableError,
  storableMessage,
  storableName,
  type TextBudget,
} from './health-texts.ts';

/** Check name of the probe as a whole. */
export const WHOLE_PROBE = '*';
/** Check name for all checks beyond the limit. */
export const REMAINING_CHECKS = '(more)';
const MAX_CHECKS = 1_000;
const MAX_LISTED_NAMES = 50;
const MAX_TIMESTAMP_LENGTH = 64;
const instant = rfc3339();
const times = count();

/** One check of a report. All texts can be stored in PostgreSQL. */
export interface HealthCheckResult {
  readonly name: string;
  readonly state: 'up' | 'down' | 'unknown';
  /** Reason why the check failed, or why its state is unknown. */
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
export interface HealthResult {
  readonly state: 'up' | 'down' | 'unknown';
  readonly error: string | null;
  readonly checks: readonly HealthCheckResult[] | null;
}

/**
 * Converts a response of the source `node-health`. Every response has a result. The state of an unhealthy
 * report is `unknown` if no check fails and some checks have not run yet; otherwise the state is `down`.
 */
export function readHealth(body: unknown): HealthResult {
  const room = createReportBudget();
  const failure = getMember(body, 'failure');
  if (typeof failure === 'string') {
    const state = getMember(body, 'state') === 'down' ? 'down' : 'unknown';
    return { state, error: storableError(failure, room), checks: null };
  }
  const checks = checksOf(getMember(body, 'checks'), room);
  return { ...summarizeChecks(getMember(body, 'healthy') === true, checks), checks };
}

/** Returns the state of the probe as a whole. A check that has not run yet does not count as failing. */
function summarizeChecks(
  healthy: boolean,
  checks: readonly HealthCheckResult[],
): Pick<HealthResult, 'state' | 'error'> {
  if (healthy) return { state: 'up', error: null };
  const named = (state: string) => checks.filter((check) => check.state === state).map(({ name }) => name);
  const [failing, waiting] = [named('down'), named('unknown')];
  if (failing.length === 0 && waiting.length > 0)
    return { state: 'unknown', error: `not yet run: ${formatNames(waiting)}` };
  return { state: 'down', error: `failing: ${formatNames(failing) || 'no check named'}` };
}

/** Returns a list of names for an error text, truncated if there are many. */
export function formatNames(names: readonly string[]): string {
  const rest = names.length - MAX_LISTED_NAMES;
  return names.slice(0, MAX_LISTED_NAMES).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** Severity of states. If several checks are recorded as one, the state with the highest severity counts. */
export const STATE_SEVERITY = { up: 0, maintenance: 0, unknown: 1, down: 2 } as const;
const RESERVED: ReadonlySet<string> = new Set([WHOLE_PROBE, REMAINING_CHECKS]);

function checksOf(checks: unknown, room: TextBudget): HealthCheckResult[] {
  const all = getEntries(checks);
  // Sorted, so that every query keeps the same checks, independently of their order in the response.
  const selected = all.length > MAX_CHECKS ? all.sort(([one], [other]) => (one < other ? -1 : 1)) : all;
  const byName = new Map<string, HealthCheckResult>();
  selected.forEach(([name, check], at) => {
    const reading = checkOf(at < MAX_CHECKS ? storableName(name, RESERVED) : REMAINING_CHECKS, check, room);
    const same = byName.get(reading.name);
    if (!same || STATE_SEVERITY[reading.state] > STATE_SEVERITY[same.state])
      byName.set(reading.name, reading);
  });
  return [...byName.values()];
}

/** Error texts of checks that have not run yet (upstream-services.md#health). */
const NOT_YET_RUN = /^(?:not yet run|didn't run yet)$/i;

function checkOf(name: string, check: unknown, room: TextBudget): HealthCheckResult {
  const stamp = getMember(check, 'timestamp');
  const timestamp =
    typeof stamp === 'string' ? storableError(stamp.slice(0, MAX_TIMESTAMP_LENGTH), room) : null;
  const nothing = { message: null, timestamp, failingSince: null, failures: null };
  const why = errorIn(check);
  // The timestamp of a check before its first run is in year 1.
  if (timestamp?.startsWith('0001-') || (why !== undefined && NOT_YET_RUN.test(why.trim())))
    return { name, state: 'unknown', error: storableError(why ?? 'not yet run', room), ...nothing };
  if (why === undefined) return { name, state: 'up', error: null, ...nothing };
  const message = getMember(check, 'message');
  const since = instant.safeParse(getMember(check, 'timeOfFirstFailure')).data;
  const failures = times.safeParse(getMember(check, 'contiguousFailures')).data;
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

/** Returns the error of a check. The error is a text, or an object on older nodes. */
function errorIn(check: unknown): string | undefined {
  const error = getMember(check, 'error');
  if (error === undefined || error === null) return undefined;
  const text = getMember(error, 'message') ?? error;
  return typeof text === 'string' ? text : storableMessage(text, createReportBudget());
}
