import type postgres from 'postgres';
import { z } from 'zod';
import { WHOLE_PROBE } from './health-reading.ts';
import type { LedgerTransition, RefusedProbe } from './ledger.ts';
import type { LedgerClock } from './ledger-clock.ts';
import { probeKey } from './ledger-parts.ts';
import {
  type CurrentVerdict,
  createVerdict,
  latestTexts,
  type Observation,
  type ProbeState,
} from './state.ts';
import type { ResumedProbe } from './watched-probe.ts';

const state = z.enum(['up', 'down', 'unknown', 'maintenance']);
const observation: z.ZodType<Observation> = z.object({
  at: z.number(),
  state: z.enum(['up', 'down', 'unknown']),
  error: z.string().nullable(),
  before: z.number(),
  checks: z
    .array(
      z.object({
        name: z.string(),
        state,
        error: z.string().nullable(),
        message: z.string().nullable(),
        timestamp: z.string().nullable(),
        // Earlier versions did not store the next two members.
        failingSince: z.string().nullable().default(null),
        failures: z.number().nullable().default(null),
      }),
    )
    .nullable(),
});

/** Current state of the ledger of an observer, by node and probe. */
export interface ResumedLedger {
  of(node: string, probe: string): ResumedProbe | undefined;
  /**
   * Returns transitions to write immediately. Intervals of probes that are no longer watched end. Periods
   * that an earlier process observed but could not store get the state `unknown`.
   * @param watched keys of {@link probeKey}
   */
  transitions(watched: ReadonlySet<string>): LedgerTransition[];
}

/**
 * Loads the state that an earlier process of the observer stored.
 * @param settled time up to which its ledger is final, in ms since 1970
 * @param refused probes whose ledger is final only up to `since`, because later rows could not be stored
 */
export async function resumeLedger(
  sql: postgres.Sql,
  observer: string,
  settled: number,
  refused: readonly RefusedProbe[],
  clock: LedgerClock,
): Promise<ResumedLedger> {
  const [open, probes] = await Promise.all([
    sql<OpenInterval[]>`
      select h.node, h.probe, h.check_name as check, h.state, h.error, h.message::text, h.reported,
        l.words ->> 'error' as last_error, (l.words -> 'message')::text as last_message, (l.words ->> 'failures')::float8 as failures
      from recorder.node_health h
      left join recorder.health_probes p using (observer, node, probe)
      cross join lateral (select p.latest -> h.check_name as words) l
      where h.observer = ${observer} and h.ended_at is null`,
    sql<
      {
        node: string;
        probe: string;
        probes: number;
        suspect: unknown;
        hour: Date | null;
        entries: Buffer | null;
      }[]
    >`
      select node, probe, probes::float8, suspect, hour, entries from recorder.health_probes
      where observer = ${observer}`,
  ]);
  const verdicts = new Map<string, Map<string, CurrentVerdict>>();
  for (const row of open) {
    const key = probeKey(row.node, row.probe);
    verdicts.set(key, (verdicts.get(key) ?? new Map()).set(row.check, resumeVerdict(row)));
  }
  const lost = new Map(refused.map((one) => [probeKey(one.node, one.probe), one]));
  for (const key of lost.keys())
    verdicts.set(key, (verdicts.get(key) ?? new Map()).set(WHOLE_PROBE, LOST_VERDICT));
  const maintained = new Set(
    open
      .filter((row) => row.check === WHOLE_PROBE && row.state === 'maintenance')
      .map((row) => probeKey(row.node, row.probe)),
  );
  const byKey = new Map(probes.map((row) => [probeKey(row.node, row.probe), row]));
  return {
    of(node, probe) {
      const key = probeKey(node, probe);
      const row = byKey.get(key);
      if (!row) return undefined;
      const storedSuspect = observation.safeParse(row.suspect).data ?? null;
      const since = lost.get(key)?.since ?? settled;
      // A final ledger ends before any failure that waits for a confirmation, unless the probe was not
      // watched meanwhile.
      const suspect = storedSuspect && storedSuspect.at >= since ? storedSuspect : null;
      const before: ProbeState = {
        verdicts: verdicts.get(key) ?? new Map(),
        suspect: suspect && { ...suspect, at: clock.toSteady(suspect.at) },
        stamps: new Map(),
        endedNames: new Set(),
      };
      const hour = row.hour && row.entries ? { start: row.hour.getTime(), entries: row.entries } : null;
      return {
        state: before,
        maintained: maintained.has(key) && !lost.has(key),
        probes: row.probes,
        hour,
        settled: since,
      };
    },
    transitions(watched) {
      const transitionOf = (
        { node, probe }: { node: string; probe: string },
        check: string,
        more: Pick<LedgerTransition, 'state' | 'error' | 'message' | 'reported' | 'ended'>,
      ) => {
        const key = probeKey(node, probe);
        const at = lost.get(key)?.since ?? settled;
        return { node, probe, check, at, ...more, failingSince: null, before: byKey.get(key)?.probes ?? 0 };
      };
      const endings = open
        .filter(({ node, probe }) => !watched.has(probeKey(node, probe)))
        .map((row) =>
          transitionOf(row, row.check, {
            ...pickTexts(row),
            state: null,
            ended: latestTexts(resumeVerdict(row)),
          }),
        );
      const blanks = refused
        .filter(({ node, probe }) => watched.has(probeKey(node, probe)))
        .map((one) =>
          transitionOf(one, WHOLE_PROBE, { ...pickTexts(LOST_VERDICT), state: 'unknown', ended: null }),
        );
      return [...endings, ...blanks];
    },
  };
}

/** The verdict of a check in the ledger, until its state changes. */
interface OpenInterval {
  readonly node: string;
  readonly probe: string;
  readonly check: string;
  readonly state: string;
  readonly error: string | null;
  readonly message: string | null;
  readonly reported: boolean;
  readonly last_error: string | null;
  readonly last_message: string | null;
  readonly failures: number | null;
}

const pickTexts = <T extends Pick<OpenInterval, 'error' | 'message' | 'reported'>>({
  error,
  message,
  reported,
}: T) => ({
  error,
  message,
  reported,
});

const unknownVerdict = (error: string) =>
  createVerdict(WHOLE_PROBE, { state: 'unknown', error, message: null }, false, null);
const LOST_VERDICT = unknownVerdict('the observed states could not be stored');

/**
 * Returns the current verdict of an interval. A probe under maintenance has an unknown verdict, because the
 * ledger does not store the observed one.
 */
function resumeVerdict(row: OpenInterval): CurrentVerdict {
  const { check, error, message, reported, last_error, last_message, failures } = row;
  const known = state.parse(row.state);
  if (check === WHOLE_PROBE && known === 'maintenance') return unknownVerdict('no observer probed the node');
  const latest = { error: last_error ?? error, message: last_message ?? message, failures };
  return { ...createVerdict(check, { state: known, error, message }, reported, failures), latest };
}
