import { GRAVITY, listed, MORE, WHOLE } from './health-reading.ts';
import { gistOf, jsonGistOf } from './normalize-message.ts';

/** The state of a probe or a check at a moment. `maintenance` is announced, never observed. */
export type State = 'up' | 'down' | 'unknown' | 'maintenance';

/** The state of a probe or of one of its checks, and why. */
export interface Verdict {
  readonly state: State;
  readonly error: string | null;
  /** JSON text: the message of a failing check, beside its error. */
  readonly message: string | null;
}

/** What the node itself says of a failing check; nulls: nothing. */
export interface OwnAccount {
  /** Since when it fails, as ISO 8601. */
  readonly failingSince: string | null;
  /** How often it failed in a row. */
  readonly failures: number | null;
}

/** The latest texts of a verdict: numbers and the like in them change while the verdict stays the same. */
export interface Wording extends Pick<OwnAccount, 'failures'> {
  readonly error: string | null;
  readonly message: string | null;
}

/** One check of a report. */
export interface CheckReading extends Verdict, OwnAccount {
  readonly name: string;
  /** When the node last ran it, as the node writes it; null: not given. */
  readonly timestamp: string | null;
}

/** The result of one look at a node. Times are ms, on a clock of the caller's choice. */
export interface Observation {
  /** When the answer arrived. */
  readonly at: number;
  /** `unknown`: the fault was the recorder's own. */
  readonly state: 'up' | 'down' | 'unknown';
  readonly error: string | null;
  /** Null: there was no report. */
  readonly checks: readonly CheckReading[] | null;
  /** All looks of this probe before this one. */
  readonly before: number;
}

/** From `at` on a check, or the probe as a whole, has another verdict. */
export interface Transition extends Verdict {
  readonly at: number;
  readonly check: string;
  /** Of the whole: whether the node gave a report, so that its checks are known. */
  readonly reported: boolean;
  readonly before: number;
  readonly failingSince: string | null;
  /** The latest texts of the verdict that ends; null: they are the first ones. */
  readonly ended: Wording | null;
}

/** From `at` on a check has no verdict any more. */
export interface Ending extends Omit<Transition, 'state'> {
  readonly state: null;
}

/** The current verdict of a check, with its first and its latest texts. */
export interface StandingVerdict extends Verdict {
  readonly reported: boolean;
  readonly latest: Wording;
  /** What of it is compared. */
  readonly gist: string;
}

/** What is kept of a probe between two looks. */
export interface ProbeState {
  /** By check; {@link WHOLE} for the probe itself. */
  readonly standing: ReadonlyMap<string, StandingVerdict>;
  /** The first failure of a node that was not down. If a second look confirms it, the node was down from this moment on. */
  readonly suspect: Observation | null;
  /** When each check's own timestamp was first seen. */
  readonly stamps: ReadonlyMap<string, { readonly timestamp: string; readonly since: number }>;
}

export const NOTHING_KNOWN: ProbeState = { standing: new Map(), suspect: null, stamps: new Map() };

/** The least time between a failure and the look that confirms it, ms. */
export const CONFIRMS_AFTER = 2_000;

/**
 * Takes one look into account.
 * @param staleAfter ms after which a check whose timestamp does not move is stale; Infinity: checks may stall
 * @returns what is remembered now, and the transitions, oldest first
 */
export function step(
  before: ProbeState,
  observation: Observation,
  staleAfter: number,
): { readonly state: ProbeState; readonly transitions: readonly Transition[] } {
  const { suspect } = before;
  const down = observation.state === 'down';
  if (suspect && down && observation.at - suspect.at < CONFIRMS_AFTER)
    return { state: before, transitions: [] };
  if (!suspect && down && before.standing.get(WHOLE)?.state !== 'down')
    return { state: { ...before, suspect: observation }, transitions: [] };
  const standing = new Map(before.standing);
  const transitions: Transition[] = [];
  const stamps = observation.checks ? stampsOf(before, observation) : before.stamps;
  if (suspect && down) transitions.push(...transitionsBy(standing, suspect, stamps, staleAfter));
  if (suspect && observation.state === 'unknown')
    // It is not known any more whether the failure was the node's.
    transitions.push(
      ...transitionsBy(
        standing,
        { ...observation, at: suspect.at, before: suspect.before },
        stamps,
        staleAfter,
      ),
    );
  else transitions.push(...transitionsBy(standing, observation, stamps, staleAfter));
  return { state: { standing, suspect: null, stamps }, transitions };
}

/** Maximum number of distinct check names of a probe, over all its looks. Checks with other names are recorded as {@link MORE}. */
const MAX_CHECK_NAMES = 1_000;

/** The readings of a report, of which those with names beyond the bound are one: the gravest. */
function boundedReadings(
  standing: ReadonlyMap<string, StandingVerdict>,
  readings: readonly CheckReading[],
): readonly CheckReading[] {
  let room = MAX_CHECK_NAMES - standing.size;
  let more: CheckReading | null = null;
  const bounded: CheckReading[] = [];
  for (const reading of readings) {
    if (reading.name !== MORE && (standing.has(reading.name) || room-- > 0)) bounded.push(reading);
    else if (!more || GRAVITY[reading.state] > GRAVITY[more.state]) more = asMore(reading);
  }
  return more ? [...bounded, more] : bounded;
}

/** The reading of all checks beyond the bound. Its texts name none of them, because their names change at each look. */
const asMore = ({ state }: CheckReading): CheckReading => ({
  name: MORE,
  state,
  error: state === 'up' ? null : `${state}: at least one check beyond ${MAX_CHECK_NAMES} distinct names`,
  message: null,
  timestamp: null,
  failingSince: null,
  failures: null,
});

/** The transitions that an observation makes; `standing` is brought up to it. */
function transitionsBy(
  standing: Map<string, StandingVerdict>,
  observation: Observation,
  stamps: ProbeState['stamps'],
  staleAfter: number,
): Transition[] {
  const { at, before } = observation;
  const transitions: Transition[] = [];
  const say = (check: string, verdict: Verdict, reported: boolean, own: OwnAccount = NO_ACCOUNT) => {
    const last = standing.get(check);
    const now = standingVerdict(check, verdict, reported, own.failures);
    if (last && isSameVerdict(last, now)) {
      standing.set(check, { ...last, latest: now.latest });
      return;
    }
    standing.set(check, now);
    const { failingSince } = own;
    transitions.push({
      ...verdict,
      at,
      check,
      reported,
      before,
      failingSince,
      ended: last ? endingOf(last) : null,
    });
  };
  const reported = observation.checks && boundedReadings(standing, observation.checks);
  const readings = reported?.map((reading) => {
    const stamp = stamps.get(reading.name);
    const stale =
      reading.state === 'up' &&
      stamp !== undefined &&
      stamp.timestamp === reading.timestamp &&
      at - stamp.since >= staleAfter;
    return stale ? { ...reading, state: 'unknown' as const, error: STALE, message: null } : reading;
  });
  const stale = readings?.filter(({ error }) => error === STALE).map(({ name }) => name) ?? [];
  const whole: Verdict =
    observation.state === 'up' && stale.length > 0
      ? { state: 'unknown', error: `stale: ${listed(stale)}`, message: null }
      : { state: observation.state, error: observation.error, message: null };
  say(WHOLE, whole, observation.checks !== null);
  if (!readings) return transitions;
  for (const reading of readings) {
    const { name, state, error, message } = reading;
    say(name, { state, error, message }, true, reading);
  }
  const named = new Set([WHOLE, ...readings.map(({ name }) => name)]);
  for (const check of standing.keys()) if (!named.has(check)) say(check, NOT_REPORTED, true);
  return transitions;
}

const NO_ACCOUNT: OwnAccount = { failingSince: null, failures: null };
const NOT_REPORTED: Verdict = { state: 'unknown', error: 'not in the report', message: null };

const STALE = 'stale: its timestamp stands still';

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
 * A verdict with its first texts. The error of a whole probe with a report names checks: these names are compared as they
 * are, even if one is an id.
 */
export function standingVerdict(
  check: string,
  verdict: Verdict,
  reported: boolean,
  failures: number | null,
): StandingVerdict {
  const { state, error, message } = verdict;
  const why = error === null || (check === WHOLE && reported) ? error : gistOf(error);
  const gist = JSON.stringify([state, reported, why, message && jsonGistOf(message)]);
  return { ...verdict, reported, latest: { error, message, failures }, gist };
}

const isSameVerdict = (one: StandingVerdict, other: StandingVerdict) => one.gist === other.gist;

/** The latest texts of a verdict, where they differ from the first ones. */
export function endingOf({ error, message, latest }: StandingVerdict): Wording | null {
  const same = latest.error === error && latest.message === message;
  return same && latest.failures === null ? null : latest;
}
