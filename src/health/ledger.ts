import type postgres from 'postgres';
import { z } from 'zod';
import { LeaseLost } from '../lib/errors.ts';
import { noteChanges } from '../recording/histories/changes.ts';
import { ledgerEvents } from './ledger-events.ts';
import type { Observation, Transition } from './state.ts';

/** How long an observer stays with a process that shows no sign of life, in seconds by the database's clock. */
const LEASE_SECONDS = 6;

/** A transition in the ledger, at a wall time, ms since 1970; state null: the probe or check is not watched any more. */
export interface LedgerTransition extends Omit<Transition, 'state'> {
  readonly node: string;
  readonly probe: string;
  readonly state: Transition['state'] | null;
}

/** Number of looks by node and probe. */
export type LooksByProbe = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Time in which the observer did not look at all. */
export interface Absence {
  readonly from: number;
  readonly to: number;
  readonly reason: string;
  /** Looks before the absence; absent: unknown. */
  readonly looks?: LooksByProbe;
}

/** What changed about a probe without a transition. */
export interface ProbeProgress {
  readonly node: string;
  readonly probe: string;
  readonly probes: number;
  readonly probedAt: number;
  /** The first failure that waits to be confirmed, at a wall time. */
  readonly suspect: Observation | null;
  /** JSON by check: the latest error and message, where they differ from the first ones. */
  readonly latest: string | null;
  readonly hour: number | null;
  readonly entries: Buffer | null;
}

/** A probe whose rows the database refuses, since when (ms since 1970), and why. */
export interface RefusedProbe {
  readonly node: string;
  readonly probe: string;
  /** Up to here its ledger is settled. */
  readonly since: number;
  readonly reason: string;
}

/** What one statement stores together. Times are ms since 1970. */
export interface LedgerBatch {
  /** Everything is settled up to here; null: no further than before. */
  readonly heartbeat: number | null;
  readonly absences: readonly Absence[];
  /** In any order; of two at one moment about one check the later in the list counts. */
  readonly transitions: readonly LedgerTransition[];
  readonly probes: readonly ProbeProgress[];
  /** The probes whose ledger is stalled; undefined: no change. */
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

/** An observer as a process takes it over. `lease` goes into the first {@link writeLedger}. */
export interface TakenObserver {
  /** How far its ledger reaches, ms since 1970; null: it has none. */
  readonly heartbeat: number | null;
  readonly refused: readonly RefusedProbe[];
  readonly lease: string;
}

/** SQL: no process holds the observer `o`. */
const IS_FREE = `(o.holder is null or o.lease_until < now()
      -- So far ahead only a clock that was set back since can have put it.
      or o.lease_until > clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}))`;

/** Takes an observer if no process holds it. @returns `held` when another process does */
export async function takeObserver(
  sql: postgres.Sql,
  observer: string,
  holder: string,
): Promise<'held' | TakenObserver> {
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

/** Who holds some observers, or held them last. @returns one each, in their order */
export async function holdersOf(
  sql: postgres.Sql,
  observers: readonly string[],
): Promise<{ readonly observer: string; readonly holder: string | null; readonly free: boolean }[]> {
  return sql<{ observer: string; holder: string | null; free: boolean }[]>`
    select a.observer, o.holder, coalesce(${sql.unsafe(IS_FREE)}, true) as free
    from unnest(${[...observers]}::text[]) with ordinality as a(observer, place)
    left join recorder.health_observers o using (observer) order by a.place`;
}

/**
 * The shares of an observer that belong to an earlier division and still say something of nodes.
 * @param shares those that there are now; the first has the observer's name
 */
export async function sharesLeft(sql: postgres.Sql, shares: readonly string[]): Promise<string[]> {
  const rows = await sql<{ observer: string }[]>`
    select o.observer from recorder.health_observers o
    where starts_with(o.observer, ${`${shares[0]}/`}) and o.observer <> all(${[...shares]}::text[])
      and exists (select from recorder.node_health h where h.observer = o.observer and h.ended_at is null)
    order by 1`;
  return rows.map(({ observer }) => observer);
}

/**
 * Removes what the ledger of an observer says of the time after a moment: after the database's clock was set back, that time
 * has not come yet. What lasted at the moment is open again.
 */
export async function cutLedger(
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
        -- The count makes the removal come first: the unique index sees one open row.
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

/** Gives up the observer, so that another process can take it. */
export async function leaveObserver(sql: postgres.Sql, observer: string, holder: string): Promise<void> {
  await sql`
    update recorder.health_observers set holder = null, lease_until = null
    where observer = ${observer} and holder = ${holder}`;
}

const NOTED = noteChanges({
  events: [{ dataset: 'node_health', request: `'{}'::text[]`, sql: ledgerEvents }],
  runId: 'null',
  recordedAt: 'now()',
  observedAt: 'now()',
  after: ['absent', 'cut', 'closed', 'written', 'progress'],
}).join(', ');

/**
 * Writes a batch in one statement and keeps the lease. From its first transition on the ledger of a check is what the batch
 * says, so that writing a batch again changes nothing.
 * @param lease as the last call returned it, or as the observer was taken; absent: nothing is known of what was before
 * @returns the lease for the next call
 * @throws LeaseLost when another process has the observer, or the database lacks what was written before (a replica was
 * promoted, a backup restored): what was settled then would be missing for ever. Nothing is written
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
  const [kept] = await sql<{ lease: string }[]>`
    with mine as materialized (
      update recorder.health_observers set lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
        heartbeat_at = greatest(heartbeat_at, nullif(least(coalesce(${heartbeat === null ? null : iso(heartbeat)}::timestamptz, '-infinity'), clock_timestamp()), '-infinity')),
        refused = case when ${refused !== undefined} then nullif(${text((refused ?? []).map(refusedRow))}::text::jsonb, '[]') else refused end
      where observer = ${observer} and holder = ${holder} and lease_until >= ${lease}::text::timestamptz
      returning observer, lease_until
    ), absent as (
      insert into recorder.health_absences as a (observer, started_at, ended_at, reason, looks)
      select mine.observer, u.* from mine, jsonb_to_recordset(${text(absences.map(absenceRow))}::text::jsonb)
        as u(started_at timestamptz, ended_at timestamptz, reason text, looks jsonb)
      on conflict (observer, started_at) do update set ended_at = greatest(a.ended_at, excluded.ended_at) returning 1
    ), transition as materialized (
      select mine.observer, u.* from mine, jsonb_to_recordset(${text([...latest.values()].map(turnRow))}::text::jsonb)
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
      -- The counts make these come first: the unique indexes see one row a moment, and one open row.
      where state is not null and (select count(*) from cut) + (select count(*) from closed) >= 0 returning 1
    ), progress as (
      insert into recorder.health_probes (observer, node, probe, probes, probed_at, suspect, latest, hour, entries)
      select mine.observer, u.node, u.probe, u.probes, u.probed_at, u.suspect::jsonb, u.latest::jsonb, u.hour, decode(u.entries, 'hex')
      from mine, jsonb_to_recordset(${text(probes.map(probeRow))}::text::jsonb)
        as u(node text, probe text, probes bigint, probed_at timestamptz, suspect text, latest text, hour timestamptz, entries text)
      on conflict (observer, node, probe) do update set probes = excluded.probes, probed_at = excluded.probed_at,
        suspect = excluded.suspect, latest = excluded.latest, hour = excluded.hour, entries = excluded.entries returning 1
    ), ${sql.unsafe(NOTED)}
    select lease_until::text as lease from mine`;
  if (!kept) throw new LeaseLost('node-health', `observer=${observer}`);
  return kept.lease;
}

const iso = (at: number) => new Date(at).toISOString();
const text = (rows: readonly unknown[]) => JSON.stringify(rows);
const absenceRow = ({ from, to, reason, looks }: Absence) => ({
  started_at: iso(from),
  ended_at: iso(to),
  reason,
  looks,
});
const refusedRow = ({ node, probe, since, reason }: RefusedProbe) => ({
  node,
  probe,
  since: iso(since),
  reason,
});
const turnRow = ({
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
