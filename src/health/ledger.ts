import { sql as expression } from 'drizzle-orm';
import type postgres from 'postgres';
import { z } from 'zod';
import { ormOf } from '../db/orm.ts';
import { targetDatasets, targets } from '../db/schema/bookkeeping.ts';
import { healthIntervals, healthObservers } from '../db/schema/health-tables.ts';
import { LeaseLostError } from '../lib/errors.ts';
import { changeRecordingCtes } from '../recording/histories/changes.ts';
import { ledgerEvents } from './ledger-events.ts';
import { nodeHealth } from './node-health.ts';
import type { Observation, Transition } from './state.ts';

/** Lease duration of an observer without a heartbeat, in seconds by the clock of the database. */
const LEASE_SECONDS = 6;

/**
 * A transition in the ledger, at a wall time in ms since 1970. State null: the probe or check is no longer
 * watched.
 */
export interface LedgerTransition extends Omit<Transition, 'state'> {
  readonly node: string;
  readonly probe: string;
  readonly state: Transition['state'] | null;
}

/** Number of queries by node and probe. */
export type ProbeCounts = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A period without any query by the observer. */
export interface ObserverAbsence {
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  /** Number of queries before the absence. Undefined: unknown. */
  readonly probeCounts?: ProbeCounts;
}

/** Progress of a probe, which changes even without a transition. */
export interface ProbeProgress {
  readonly node: string;
  readonly probe: string;
  readonly probes: number;
  readonly probedAt: number;
  /** First failure that waits for a confirmation, at a wall time. */
  readonly suspect: Observation | null;
  /** JSON by check: the latest error and message, if they differ from the first ones. */
  readonly latest: string | null;
  readonly hour: number | null;
  readonly entries: Buffer | null;
}

/** A probe whose rows the database rejects, and the reason. */
export interface RefusedProbe {
  readonly node: string;
  readonly probe: string;
  /** Time up to which the ledger of the probe is final, in ms since 1970. */
  readonly since: number;
  readonly reason: string;
}

/** Data that one statement stores. Times are in ms since 1970. */
export interface LedgerBatch {
  /** Time up to which everything is final. Null: the stored time is not changed. */
  readonly heartbeat: number | null;
  readonly absences: readonly ObserverAbsence[];
  /** Transitions in any order. If two have the same check and time, the later one in the list counts. */
  readonly transitions: readonly LedgerTransition[];
  readonly probes: readonly ProbeProgress[];
  /** Probes whose ledger is stalled. Undefined: no change. */
  readonly refused?: readonly RefusedProbe[];
}

const refusedProbes = z.array(
  z.object({
    node: z.string(),
    probe: z.string(),
    since: z.iso.datetime().transform((at) => Date.parse(at)),
    reason: z.string(),
  }),
);

/** An observer that this process has acquired. `lease` is the input of the first {@link writeLedger}. */
export interface AcquiredObserver {
  /** End of the ledger of the observer, in ms since 1970. Null: the observer has no ledger. */
  readonly heartbeat: number | null;
  readonly refused: readonly RefusedProbe[];
  readonly lease: string;
}

/** SQL: condition that no process holds the observer `o`. */
const IS_FREE = `(o.holder is null or o.lease_until < now()
      -- A lease that ends later than this was set before the clock was set back.
      or o.lease_until > clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}))`;

/**
 * Acquires an observer if no process holds it.
 * @returns `held` if another process does
 */
export async function acquireObserver(
  sql: postgres.Sql,
  observer: string,
  holder: string,
): Promise<'held' | AcquiredObserver> {
  const [row] = await sql<{ heartbeat_at: Date | null; refused: unknown; lease: string }[]>`
    insert into recorder.health_observers as o (observer, holder, lease_until)
    values (${observer}, ${holder}, now() + make_interval(secs => ${LEASE_SECONDS}))
    on conflict (observer) do update set holder = excluded.holder, lease_until = excluded.lease_until
    where o.holder = excluded.holder or ${sql.unsafe(IS_FREE)}
    returning heartbeat_at, refused, lease_until::text as lease`;
  if (!row) return 'held';
  const { heartbeat_at: heartbeat, refused, lease } = row;
  return { heartbeat: heartbeat?.getTime() ?? null, refused: refusedProbes.parse(refused ?? []), lease };
}

/** Returns the current or last holders of some observers, in their order. */
export async function queryHolders(
  sql: postgres.Sql,
  observers: readonly string[],
): Promise<{ readonly observer: string; readonly holder: string | null; readonly free: boolean }[]> {
  return sql<{ observer: string; holder: string | null; free: boolean }[]>`
    select a.observer, o.holder, coalesce(${sql.unsafe(IS_FREE)}, true) as free
    from unnest(${[...observers]}::text[]) with ordinality as a(observer, place)
    left join recorder.health_observers o using (observer) order by a.place`;
}

/**
 * Returns the observers that have open intervals and no probes any more: shares of an earlier division of an
 * observer, and observers whose probes were all removed from the configuration.
 * @param shares current shares; the first has the name of the observer
 */
export async function findAbandonedObservers(
  sql: postgres.Sql,
  shares: readonly string[],
): Promise<string[]> {
  const rows = await ormOf(sql).execute<{ observer: string }>(expression`
    select o.observer from ${healthObservers} o
    where o.observer <> all(${expression.param(shares)}::text[])
      and exists (select from ${healthIntervals} h where h.observer = o.observer and h.ended_at is null)
      and (starts_with(o.observer, ${`${shares[0]}/`}) or (
        select bool_and(not d.active and d.left_at is not null) from ${targetDatasets} d
        join ${targets} t using (source, target_key)
        where d.source = ${nodeHealth.source.name} and t.target ->> 'observer' = o.observer))
    order by 1`);
  return rows.map(({ observer }) => observer);
}

/**
 * Removes the ledger of an observer after a time. Used when the clock of the database was set back. Intervals
 * that contain the time are open again.
 */
export async function truncateLedger(
  sql: postgres.Sql,
  observer: string,
  holder: string,
  at: number,
): Promise<void> {
  const moment = new Date(at);
  await sql`
    with mine as materialized (
      update recorder.health_observers set heartbeat_at = ${moment}, refused = null
      where observer = ${observer} and holder = ${holder} and heartbeat_at > ${moment} returning observer
    ), removed as (
      delete from recorder.node_health h using mine
      where h.observer = mine.observer and h.started_at > ${moment} returning 1
    ), reopened as (
      update recorder.node_health h set ended_at = null, probes = null, last_error = null, last_message = null, failures = null
      from mine where h.observer = mine.observer and h.started_at <= ${moment} and h.ended_at > ${moment}
        -- The count makes the removal run first, so that the unique index has one open row.
        and (select count(*) from removed) >= 0 returning 1
    ), removed_absences as (
      delete from recorder.health_absences a using mine
      where a.observer = mine.observer and a.started_at >= ${moment} returning 1
    ), shortened_absences as (
      update recorder.health_absences a set ended_at = ${moment} from mine
      where a.observer = mine.observer and a.started_at < ${moment} and a.ended_at > ${moment} returning 1
    )
    update recorder.health_probes p set probed_at = least(p.probed_at, ${moment}), suspect = null
    from mine where p.observer = mine.observer`;
}

/** Releases the observer, so that another process can acquire it. */
export async function releaseObserver(sql: postgres.Sql, observer: string, holder: string): Promise<void> {
  await sql`
    update recorder.health_observers set holder = null, lease_until = null
    where observer = ${observer} and holder = ${holder}`;
}

const CHANGE_CTES = changeRecordingCtes({
  events: [{ dataset: 'node_health', request: `'{}'::text[]`, sql: ledgerEvents }],
  runId: 'null',
  recordedAt: 'now()',
  observedAt: 'now()',
  after: ['absent', 'cut', 'closed', 'written', 'progress'],
}).join(', ');

/**
 * Writes a batch in one statement and renews the lease. The batch replaces the ledger of a check from its
 * first transition on, so that a repetition changes nothing.
 * @param lease result of the last call, or of the acquisition of the observer. Default: the stored lease is
 * not compared.
 * @returns the lease for the next call
 * @throws LeaseLostError if another process holds the observer, or if the database lacks earlier writes
 * because a replica was promoted or a backup was restored. These writes would be missing forever. Then
 * nothing is written.
 */
export async function writeLedger(
  sql: postgres.Sql,
  observer: string,
  holder: string,
  { heartbeat, absences, transitions, probes, refused }: LedgerBatch,
  lease = '-infinity',
): Promise<string> {
  const latest = new Map(
    transitions.map((transition) => [
      `${transition.node}\n${transition.probe}\n${transition.check}\n${transition.at}`,
      transition,
    ]),
  );
  const [row] = await sql<{ lease: string }[]>`
    with mine as materialized (
      update recorder.health_observers set lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
        heartbeat_at = greatest(heartbeat_at, nullif(least(coalesce(${heartbeat === null ? null : iso(heartbeat)}::timestamptz, '-infinity'), clock_timestamp()), '-infinity')),
        refused = case when ${refused !== undefined} then nullif(${text((refused ?? []).map(refusedRow))}::text::jsonb, '[]') else refused end
      where observer = ${observer} and holder = ${holder} and lease_until >= ${lease}::text::timestamptz
      returning observer, lease_until
    ), absent as (
      insert into recorder.health_absences as a (observer, started_at, ended_at, reason, probe_counts)
      select mine.observer, u.* from mine, jsonb_to_recordset(${text(absences.map(absenceRow))}::text::jsonb)
        as u(started_at timestamptz, ended_at timestamptz, reason text, probe_counts jsonb)
      on conflict (observer, started_at) do update set ended_at = greatest(a.ended_at, excluded.ended_at) returning 1
    ), transition as materialized (
      select mine.observer, u.* from mine, jsonb_to_recordset(${text([...latest.values()].map(transitionRow))}::text::jsonb)
        as u(node text, probe text, check_name text, at timestamptz, state text, error text, message text,
          reported boolean, before bigint, failing_since timestamptz, ended_error text, ended_message text, ended_failures bigint)
    ), first as materialized (
      select distinct on (observer, node, probe, check_name) observer, node, probe, check_name, at, before,
        ended_error, ended_message, ended_failures
      from transition order by observer, node, probe, check_name, at
    ), cut as (
      delete from recorder.node_health h using first f
      where (h.observer, h.node, h.probe, h.check_name) = (f.observer, f.node, f.probe, f.check_name)
        and h.started_at >= f.at returning h.observer, h.node, h.probe, h.check_name, h.started_at, h.state, h.error, h.message
    ), closed as (
      update recorder.node_health h set ended_at = f.at, probes = f.before - h.probes_before,
        last_error = case when h.state <> 'maintenance' then f.ended_error end,
        last_message = case when h.state <> 'maintenance' then f.ended_message::jsonb end,
        failures = case when h.state <> 'maintenance' then f.ended_failures end
      from first f
      where (h.observer, h.node, h.probe, h.check_name) = (f.observer, f.node, f.probe, f.check_name)
        and h.started_at < f.at and h.ended_at is null returning h.observer, h.node, h.probe, h.check_name
    ), written as (
      insert into recorder.node_health
        (observer, node, probe, check_name, state, error, message, reported, started_at, ended_at, probes_before, probes,
          failing_since, last_error, last_message, failures)
      select observer, node, probe, check_name, state, error, message::jsonb, reported, at, next_at, before, next_before - before,
        failing_since, case when state <> 'maintenance' then last_error end,
        case when state <> 'maintenance' then last_message::jsonb end, case when state <> 'maintenance' then failures end
      from (select *, lead(at) over following as next_at, lead(before) over following as next_before,
          lead(ended_error) over following as last_error, lead(ended_message) over following as last_message,
          lead(ended_failures) over following as failures from transition
        window following as (partition by observer, node, probe, check_name order by at)) t
      -- The counts make these updates run first, so that the unique indexes have one row per moment, and one open row.
      where state is not null and (select count(*) from cut) + (select count(*) from closed) >= 0 returning 1
    ), progress as (
      insert into recorder.health_probes (observer, node, probe, probes, probed_at, suspect, latest, hour, entries)
      select mine.observer, u.node, u.probe, u.probes, u.probed_at, u.suspect::jsonb, u.latest::jsonb, u.hour, decode(u.entries, 'hex')
      from mine, jsonb_to_recordset(${text(probes.map(probeRow))}::text::jsonb)
        as u(node text, probe text, probes bigint, probed_at timestamptz, suspect text, latest text, hour timestamptz, entries text)
      on conflict (observer, node, probe) do update set probes = excluded.probes, probed_at = excluded.probed_at,
        suspect = excluded.suspect, latest = excluded.latest, hour = excluded.hour, entries = excluded.entries returning 1
    ), ${sql.unsafe(CHANGE_CTES)}
    select lease_until::text as lease from mine`;
  if (!row) throw new LeaseLostError('node-health', `observer=${observer}`);
  return row.lease;
}

const iso = (at: number) => new Date(at).toISOString();
const text = (rows: readonly unknown[]) => JSON.stringify(rows);
const absenceRow = ({ from, to, reason, probeCounts }: ObserverAbsence) => ({
  started_at: iso(from),
  ended_at: iso(to),
  reason,
  probe_counts: probeCounts,
});
const refusedRow = ({ node, probe, since, reason }: RefusedProbe) => ({
  node,
  probe,
  since: iso(since),
  reason,
});
const transitionRow = ({
  node,
  probe,
  check,
  at,
  state,
  error,
  message,
  reported,
  before,
  ...more
}: LedgerTransition) => ({
  node,
  probe,
  check_name: check,
  at: iso(at),
  state,
  error,
  message,
  reported,
  before,
  failing_since: more.failingSince,
  ended_error: more.ended?.error,
  ended_message: more.ended?.message,
  ended_failures: more.ended?.failures,
});
const probeRow = ({ probedAt, hour, entries, suspect, ...progress }: ProbeProgress) => ({
  ...progress,
  suspect: suspect && JSON.stringify(suspect),
  probed_at: iso(probedAt),
  hour: hour === null ? null : iso(hour),
  entries: entries?.toString('hex') ?? null,
});
