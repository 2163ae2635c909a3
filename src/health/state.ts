/** What may be said of a probe or a check at a moment. `maintenance` is announced, never observed. */
export type State = 'up' | 'down' | 'unknown' | 'maintenance';

/** What was said of a probe or one of its checks, until something else is. */
export interface Saying {
  readonly state: State;
  readonly error: string | null;
  /** JSON text: what a failing check said beside its error. */
  readonly message: string | null;
}

/** One check of a report. */
export interface CheckReading extends Saying {
  readonly name: string;
  /** When the node last ran it, in the node's words; null: it does not say. */
  readonly timestamp: string | null;
}

/** What one look at a node came to. Times are ms; on which clock is the caller's choice. */
export interface Observation {
  /** When it was asked. */
  readonly at: number;
  /** `unknown`: the fault was the recorder's own. */
  readonly state: 'up' | 'down' | 'unknown';
  readonly error: string | null;
  /** Null: there was no report. */
  readonly checks: readonly CheckReading[] | null;
  /** Looks of this probe before this one, in its whole life. */
  readonly before: number;
}

/** From `at` on something else is said of a check, or of the probe as a whole. */
export interface Turn extends Saying {
  readonly at: number;
  readonly check: string;
  /** Of the whole: whether the node gave a report, so that its checks are known. */
  readonly reported: boolean;
  readonly before: number;
}

/** All that is remembered of a probe between two looks. */
export interface ProbeState {
  /** By check; {@link WHOLE} for the probe itself. */
  readonly said: ReadonlyMap<string, Saying & { readonly reported: boolean }>;
  /** The first failure of a node that was not down: it counts from then on if a second look confirms it. */
  readonly suspect: Observation | null;
  /** When each check's own timestamp was first seen. */
  readonly stamps: ReadonlyMap<string, { readonly timestamp: string; readonly since: number }>;
}

/** The check that stands for the probe as a whole. */
export const WHOLE = '*';

export const NOTHING_KNOWN: ProbeState = { said: new Map(), suspect: null, stamps: new Map() };

/** A second look sooner than this confirms nothing, ms. */
export const CONFIRMS_AFTER = 2_000;

/**
 * Takes one look into account.
 * @param staleAfter ms after which a check whose timestamp does not move is stale; Infinity: checks may stand still
 * @returns what is remembered now, and what turned, oldest first
 */
export function step(
  before: ProbeState,
  observation: Observation,
  staleAfter: number,
): { readonly state: ProbeState; readonly turns: readonly Turn[] } {
  const { suspect } = before;
  const down = observation.state === 'down';
  if (suspect && down && observation.at - suspect.at < CONFIRMS_AFTER) return { state: before, turns: [] };
  if (!suspect && down && before.said.get(WHOLE)?.state !== 'down')
    return { state: { ...before, suspect: observation }, turns: [] };
  const said = new Map(before.said);
  const turns: Turn[] = [];
  const stamps = observation.checks ? stampsOf(before, observation) : before.stamps;
  if (suspect && down) turns.push(...sayings(said, suspect, stamps, staleAfter));
  if (suspect && observation.state === 'unknown')
    // Nobody can tell any more whether the failure was the node's.
    turns.push(
      ...sayings(said, { ...observation, at: suspect.at, before: suspect.before }, stamps, staleAfter),
    );
  else turns.push(...sayings(said, observation, stamps, staleAfter));
  return { state: { said, suspect: null, stamps }, turns };
}

/** What an observation says that was not said before; `said` is brought up to it. */
function sayings(
  said: Map<string, Saying & { readonly reported: boolean }>,
  observation: Observation,
  stamps: ProbeState['stamps'],
  staleAfter: number,
): Turn[] {
  const { at, before } = observation;
  const turns: Turn[] = [];
  const say = (check: string, saying: Saying, reported: boolean) => {
    const last = said.get(check);
    if (last && sameSaying(last, saying) && last.reported === reported) return;
    said.set(check, { ...saying, reported });
    turns.push({ ...saying, at, check, reported, before });
  };
  const readings = observation.checks?.map((reading) => {
    const stamp = stamps.get(reading.name);
    const stale =
      reading.state === 'up' &&
      stamp !== undefined &&
      stamp.timestamp === reading.timestamp &&
      at - stamp.since >= staleAfter;
    return stale ? { ...reading, state: 'unknown' as const, error: STALE, message: null } : reading;
  });
  const stale = readings?.filter(({ error }) => error === STALE).map(({ name }) => name) ?? [];
  const whole: Saying =
    observation.state === 'up' && stale.length > 0
      ? { state: 'unknown', error: `stale: ${stale.join(', ')}`, message: null }
      : { state: observation.state, error: observation.error, message: null };
  say(WHOLE, whole, observation.checks !== null);
  if (!readings) return turns;
  for (const { name, state, error, message } of readings) say(name, { state, error, message }, true);
  const named = new Set([WHOLE, ...readings.map(({ name }) => name)]);
  for (const check of said.keys())
    if (!named.has(check)) say(check, { state: 'unknown', error: 'not in the report', message: null }, true);
  return turns;
}

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

/** Whether two sayings are one: numbers in a message move at every look and are no change. */
function sameSaying(one: Saying, other: Saying): boolean {
  return (
    one.state === other.state &&
    one.error === other.error &&
    withoutNumbers(one.message) === withoutNumbers(other.message)
  );
}

function withoutNumbers(text: string | null): string | null {
  return text?.replaceAll(/\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, '#') ?? null;
}
