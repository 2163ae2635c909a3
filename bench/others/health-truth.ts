import type postgres from 'postgres';
import { writeLedger } from '../../src/health/ledger.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The year of the compared probes, ms since 1970: that of `bench/health-year.ts`. */
export const FROM = Date.UTC(2025, 0, 1);
export const TO = FROM + 365 * DAY;
/** The queried node. */
export const NODE = 'validator-1';

/** Result of one probe of a node. */
export interface ProbeResult {
  /** ms since 1970 */
  readonly at: number;
  /** `silent`: no response; `failing`: the node reported a failing check. */
  readonly answer: 'up' | 'failing' | 'silent';
}

interface State {
  readonly state: string;
  readonly reported: boolean;
  readonly since: number;
  readonly until: number;
}

/** The states of each node in the ledger of a year: the others get the same, probe by probe. */
export class Truth {
  readonly #states: ReadonlyMap<string, readonly State[]>;

  private constructor(states: ReadonlyMap<string, readonly State[]>) {
    this.#states = states;
  }

  static async read(sql: postgres.Sql): Promise<Truth> {
    const rows = await sql<(State & { node: string })[]>`
      select node, state, reported, extract(epoch from started_at)::float8 * 1000 as since,
        extract(epoch from ended_at)::float8 * 1000 as until
      from reporting_internal.node_states order by node, started_at`;
    const states = new Map<string, State[]>();
    for (const { node, ...state } of rows) states.set(node, [...(states.get(node) ?? []), state]);
    return new Truth(states);
  }

  get nodes(): string[] {
    return [...this.#states.keys()];
  }

  /** The probes of a node, one a minute; none in unobserved time. */
  *probes(node: string, from: number, to: number): Generator<ProbeResult> {
    const states = this.#states.get(node) ?? [];
    let place = 0;
    for (let at = from; at < to; at += MINUTE) {
      while ((states[place]?.until ?? Infinity) <= at) place += 1;
      const now = states[place];
      if (!now || now.since > at || now.state === 'unknown') continue;
      yield { at, answer: now.state === 'up' ? 'up' : now.reported ? 'failing' : 'silent' };
    }
  }
}

/**
 * Adds an hour without probes in the middle of the year, in which and around which the node is up. @returns its start,
 * ms since 1970
 */
export async function addUnobservedHour(sql: postgres.Sql): Promise<number> {
  const [quietState] = await sql<{ since: number }[]>`
    select extract(epoch from started_at)::float8 * 1000 as since from reporting_internal.node_states
    where node = ${NODE} and state = 'up' and started_at > ${new Date(FROM + 200 * DAY)}
      and ended_at > started_at + interval '6 hours' order by started_at limit 1`;
  const from = Math.ceil((quietState?.since ?? Number.NaN) / HOUR) * HOUR + 2 * HOUR;
  const absence = { from, to: from + HOUR, reason: 'the recorder was off' };
  await writeLedger(sql, 'bench', 'bench', {
    heartbeat: null,
    absences: [absence],
    transitions: [],
    probes: [],
  });
  return from;
}
