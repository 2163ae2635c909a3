import type postgres from 'postgres';
import { z } from 'zod';
import type { LedgerTurn } from './ledger.ts';
import type { LedgerClock } from './ledger-clock.ts';
import { type Observation, type ProbeState, WHOLE } from './state.ts';
import type { Inheritance } from './watched-probe.ts';

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
      }),
    )
    .nullable(),
});

/** What an observer's ledger says now, by node and probe. */
export interface Estate {
  of(node: string, probe: string): Inheritance | undefined;
  /** The turns that end what is said of probes nobody watches any more. @param watched keys by {@link probeKey} */
  endings(watched: ReadonlySet<string>): LedgerTurn[];
}

export const probeKey = (node: string, probe: string) => `${node}\n${probe}`;

/** Reads what an earlier process of the observer left. @param settled up to where its ledger is settled, ms since 1970 */
export async function readEstate(
  sql: postgres.Sql,
  observer: string,
  settled: number,
  clock: LedgerClock,
): Promise<Estate> {
  const [open, probes] = await Promise.all([
    sql<
      {
        node: string;
        probe: string;
        check: string;
        state: string;
        error: string | null;
        message: string | null;
        reported: boolean;
      }[]
    >`
      select node, probe, check_name as check, state, error, message::text, reported from recorder.node_health
      where observer = ${observer} and ended_at is null`,
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
  const said = new Map<string, Map<string, ReturnType<typeof saying>>>();
  for (const row of open) {
    const key = probeKey(row.node, row.probe);
    said.set(key, (said.get(key) ?? new Map()).set(row.check, saying(row)));
  }
  const maintained = new Set(
    open
      .filter((row) => row.check === WHOLE && row.state === 'maintenance')
      .map((row) => probeKey(row.node, row.probe)),
  );
  const byKey = new Map(probes.map((row) => [probeKey(row.node, row.probe), row]));
  return {
    of(node, probe) {
      const key = probeKey(node, probe);
      const row = byKey.get(key);
      if (!row) return undefined;
      const suspect = observation.safeParse(row.suspect).data ?? null;
      const before: ProbeState = {
        said: said.get(key) ?? new Map(),
        suspect: suspect && { ...suspect, at: clock.toSteady(suspect.at) },
        stamps: new Map(),
      };
      const hour = row.hour && row.entries ? { start: row.hour.getTime(), entries: row.entries } : null;
      return { state: before, maintained: maintained.has(key), probes: row.probes, hour, settled };
    },
    endings(watched) {
      return open
        .filter(({ node, probe }) => !watched.has(probeKey(node, probe)))
        .map(({ node, probe, check, reported, error, message }) => ({
          node,
          probe,
          check,
          at: settled,
          state: null,
          error,
          message,
          reported,
          before: byKey.get(probeKey(node, probe))?.probes ?? 0,
        }));
    },
  };
}

/** What was said under maintenance is not known: nobody could tell from the ledger. */
function saying(row: {
  check: string;
  state: string;
  error: string | null;
  message: string | null;
  reported: boolean;
}) {
  const { error, message, reported } = row;
  const known = state.parse(row.state);
  return row.check === WHOLE && known === 'maintenance'
    ? { state: 'unknown' as const, error: 'nobody looked', message: null, reported: false }
    : { state: known, error, message, reported };
}
