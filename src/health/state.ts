import { formatNames, REMAINING_CHECKS, STATE_SEVERITY, WHOLE_PROBE } from './health-reading.ts';
import { normalizeJsonMessage, normalizeMessage } from './normalize-message.ts';

/** State of a probe or a check. `maintenance` is announced, never observed. */
export type NodeState = 'up' | 'down' | 'unknown' | 'maintenance';

/** State of a probe or of one of its checks, and the reason. */
export interface ProbeVerdict {
  readonly state: NodeState;
  readonly error: string | null;
  /** JSON text: message of a failing check, in addition to its error. */
  readonly message: string | null;
}

/** Failure details as reported by the node. Null: not reported. */
export interface ReportedFailure {
  /** Time of the first failure, ISO 8601. */
  readonly failingSince: string | null;
  /** Number of consecutive failures. */
  readonly failures: number | null;
}

/**
 * Latest texts of a verdict. Numbers and other variable parts in them change while the verdict stays the
 * same.
 */
export interface VerdictTexts extends Pick<ReportedFailure, 'failures'> {
  readonly error: string | null;
  readonly message: string | null;
}

/** One check of a report. */
export interface CheckReading extends ProbeVerdict, ReportedFailure {
  readonly name: string;
  /** Time of the last execution by the node, in the format of the node. Null: not reported. */
  readonly timestamp: string | null;
}

/** Result of one query of a node. Times are in ms, on a clock of the caller. */
export interface Observation {
  /** Time of the response. */
  readonly at: number;
  /** `unknown`: the recorder itself failed, or the state cannot be determined. */
  readonly state: 'up' | 'down' | 'unknown';
  readonly error: string | null;
  /** Null: there was no report. */
  readonly checks: readonly CheckReading[] | null;
  /** Number of earlier queries of this probe. */
  readonly before: number;
}

/** A change of the verdict of a check, or of the probe as a whole, at `at`. */
export interface Transition extends ProbeVerdict {
  readonly at: number;
  readonly check: string;
  /** For the probe as a whole: the node returned a report, so that its checks are known. */
  readonly reported: boolean;
  readonly before: number;
  readonly failingSince: string | null;
  /** Latest texts of the verdict that ends. Null: the texts equal the first ones. */
  readonly ended: VerdictTexts | null;
}

/** The end of the verdict of a check at `at`, without a new one. */
export interface VerdictEnd extends Omit<Transition, 'state'> {
  readonly state: null;
}

/** Current verdict of a check, with its first and its latest texts. */
export interface CurrentVerdict extends ProbeVerdict {
  readonly reported: boolean;
  readonly latest: VerdictTexts;
  /** Normalized text for comparisons. */
  readonly gist: string;
}

/** State of a probe between two queries. */
export interface ProbeState {
  /** Verdicts by check; {@link WHOLE_PROBE} for the probe itself. */
  readonly verdicts: ReadonlyMap<string, CurrentVerdict>;
  /**
   * First failure of a node that was not down. If a second query confirms the failure, the node was down from
   * the moment of the first failure on.
   */
  readonly suspect: Observation | null;
  /** Time at which the current timestamp of each check was first seen. */
  readonly stamps: ReadonlyMap<string, { readonly timestamp: string; readonly since: number }>;
  /** Names of checks whose verdicts ended. These names count towards {@link MAX_CHECK_NAMES}. */
  readonly endedNames: ReadonlySet<string>;
}

export const INITIAL_PROBE_STATE: ProbeState = {
  verdicts: new Map(),
  suspect: null,
  stamps: new Map(),
  endedNames: new Set(),
};

/** Minimum time between a failure and the query that confirms it, in ms. */
export const MIN_CONFIRM_GAP_MS = 2_000;

/**
 * Processes one query.
 * @param staleAfter time after which an unchanged timestamp of a check is stale, in ms; Infinity: never
 * @returns the new state, and the transitions, oldest first
 */
export function applyObservation(
  before: ProbeState,
  observation: Observation,
  staleAfter: number,
): { readonly state: ProbeState; readonly transitions: readonly Transition[] } {
  const { suspect } = before;
  const down = observation.state === 'down';
  if (suspect && down && observation.at - suspect.at < MIN_CONFIRM_GAP_MS)
    return { state: before, transitions: [] };
  if (!suspect && down && before.verdicts.get(WHOLE_PROBE)?.state !== 'down')
    return { state: { ...before, suspect: observation }, transitions: [] };
  const verdicts = new Map(before.verdicts);
  const transitions: Transition[] = [];
  const stamps = observation.checks ? stampsOf(before, observation) : before.stamps;
  const known = { stamps, endedNames: before.endedNames };
  if (suspect && down) transitions.push(...applyReadings(verdicts, suspect, known, staleAfter));
  if (suspect && observation.state === 'unknown')
    // It is no longer known whether the node caused the failure.
    transitions.push(
      ...applyReadings(
        verdicts,
        { ...observation, at: suspect.at, before: suspect.before },
        known,
        staleAfter,
      ),
    );
  else transitions.push(...applyReadings(verdicts, observation, known, staleAfter));
  return { state: { ...before, verdicts, suspect: null, stamps }, transitions };
}

/**
 * Maximum number of distinct check names of a probe, over all its queries. Checks with other names are
 * recorded as {@link REMAINING_CHECKS}.
 */
const MAX_CHECK_NAMES = 1_000;

/** Merges the readings with names beyond the limit into one reading with the most severe state. */
function limitReadings(
  verdicts: ReadonlyMap<string, CurrentVerdict>,
  endedNames: ReadonlySet<string>,
  readings: readonly CheckReading[],
): readonly CheckReading[] {
  const isKnown = (name: string) => verdicts.has(name) || endedNames.has(name);
  let room = MAX_CHECK_NAMES - verdicts.size;
  for (const name of endedNames) if (!verdicts.has(name)) room--;
  let more: CheckReading | null = null;
  const bounded: CheckReading[] = [];
  for (const reading of readings) {
    if (reading.name !== REMAINING_CHECKS && (isKnown(reading.name) || room-- > 0)) bounded.push(reading);
    else if (!more || STATE_SEVERITY[reading.state] > STATE_SEVERITY[more.state])
      more = toRemainingChecks(reading);
  }
  return more ? [...bounded, more] : bounded;
}

/**
 * Returns the reading for all checks beyond the limit. The texts of this reading contain no names of checks,
 * because the names may change with each query.
 */
const toRemainingChecks = ({ state }: CheckReading): CheckReading => ({
  name: REMAINING_CHECKS,
  state,
  error:
    state === 'up'
      ? null
      : `${state}: at least one of the checks beyond the limit of ${MAX_CHECK_NAMES} names`,
  message: null,
  timestamp: null,
  failingSince: null,
  failures: null,
});

/** Returns the transitions of an observation and updates `verdicts`. */
function applyReadings(
  verdicts: Map<string, CurrentVerdict>,
  observation: Observation,
  { stamps, endedNames }: Pick<ProbeState, 'stamps' | 'endedNames'>,
  staleAfter: number,
): Transition[] {
  const { at, before } = observation;
  const transitions: Transition[] = [];
  const addVerdict = (
    check: string,
    verdict: ProbeVerdict,
    reported: boolean,
    own: ReportedFailure = NO_FAILURE_DETAILS,
  ) => {
    const last = verdicts.get(check);
    const now = createVerdict(check, verdict, reported, own.failures);
    if (last && isSameVerdict(last, now)) {
      verdicts.set(check, { ...last, latest: now.latest });
      return;
    }
    verdicts.set(check, now);
    const { failingSince } = own;
    transitions.push({
      ...verdict,
      at,
      check,
      reported,
      before,
      failingSince,
      ended: last ? latestTexts(last) : null,
    });
  };
  const reported = observation.checks && limitReadings(verdicts, endedNames, observation.checks);
  const readings = reported?.map((reading) => {
    const stamp = stamps.get(reading.name);
    const stale =
      reading.state === 'up' &&
      stamp !== undefined &&
      stamp.timestamp === reading.timestamp &&
      at - stamp.since >= staleAfter;
    return stale ? { ...reading, state: 'unknown' as const, error: STALE_ERROR, message: null } : reading;
  });
  const stale = readings?.filter(({ error }) => error === STALE_ERROR).map(({ name }) => name) ?? [];
  const whole: ProbeVerdict =
    observation.state === 'up' && stale.length > 0
      ? { state: 'unknown', error: `stale: ${formatNames(stale)}`, message: null }
      : { state: observation.state, error: observation.error, message: null };
  addVerdict(WHOLE_PROBE, whole, observation.checks !== null);
  if (!readings) return transitions;
  for (const reading of readings) {
    const { name, state, error, message } = reading;
    addVerdict(name, { state, error, message }, true, reading);
  }
  const named = new Set([WHOLE_PROBE, ...readings.map(({ name }) => name)]);
  for (const check of verdicts.keys()) if (!named.has(check)) addVerdict(check, NOT_REPORTED, true);
  return transitions;
}

const NO_FAILURE_DETAILS: ReportedFailure = { failingSince: null, failures: null };
const NOT_REPORTED: ProbeVerdict = { state: 'unknown', error: 'not in the report', message: null };

const STALE_ERROR = 'stale: its timestamp does not change';

function stampsOf({ stamps }: ProbeState, { checks, at }: Observation): ProbeState['stamps'] {
  return new Map(
    (checks ?? []).flatMap(({ name, timestamp }) => {
      if (timestamp === null) return [];
      const last = stamps.get(name);
      return [[name, last?.timestamp === timestamp ? last : { timestamp, since: at }] as const];
    }),
  );
}

/**
 * Creates a verdict with its first texts. The error of a whole probe with a report contains names of checks,
 * which are compared literally, even if one looks like an id.
 */
export function createVerdict(
  check: string,
  verdict: ProbeVerdict,
  reported: boolean,
  failures: number | null,
): CurrentVerdict {
  const { state, error, message } = verdict;
  const why = error === null || (check === WHOLE_PROBE && reported) ? error : normalizeMessage(error);
  const gist = JSON.stringify([state, reported, why, message && normalizeJsonMessage(message)]);
  return { ...verdict, reported, latest: { error, message, failures }, gist };
}

const isSameVerdict = (one: CurrentVerdict, other: CurrentVerdict) => one.gist === other.gist;

/** Returns the latest texts of a verdict. Returns null if the texts equal the first ones. */
export function latestTexts({ error, message, latest }: CurrentVerdict): VerdictTexts | null {
  const same = latest.error === error && latest.message === message;
  return same && latest.failures === null ? null : latest;
}
