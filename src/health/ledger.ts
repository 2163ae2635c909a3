import type postgres from 'postgres';
import { LeaseLost } from '../errors.ts';
import type { Turn } from './state.ts';

/** How long an observer stays with a process that shows no sign of life, in seconds by the database's clock. */
const LEASE_SECONDS = 6;

/** A turn in the ledger, at a wall time, ms since 1970; state null: nobody watches this any more. */
export interface LedgerTurn extends Omit<Turn, 'state'> {
  readonly node: string;
  readonly probe: string;
  readonly state: Turn['state'] | null;
}

/** Time in which the observer did not look at all. */
export interface Absence {
  readonly from: number;
  readonly to: number;
  readonly reason: string;
}

/** What moved about a probe without being a turn. */
export interface ProbeProgress {
  readonly node: string;
  readonly probe: string;
  readonly probes: number;
  readonly probedAt: number;
  /** JSON of the first failure that waits to be confirmed. */
  readonly suspect: string | null;
  readonly hour: number | null;
  readonly entries: Buffer | null;
}

/** Everything that becomes true together. Times are ms since 1970. */
export interface LedgerBatch {
  /** Up to here all is settled; null: no further than before. */
  readonly heartbeat: number | null;
  readonly absences: readonly Absence[];
  /** In any order; of two at one moment about one check the later in the list counts. */
  readonly turns: readonly LedgerTurn[];
  readonly probes: readonly ProbeProgress[];
}

/** Takes an observer, where nobody has it. @returns how far its ledger reaches; `held` where another process has it */
export async function takeObserver(
  sql: postgres.Sql,
  observer: string,
  holder: string,
): Promise<'held' | { readonly heartbeat: number | null }> {
  const [row] = await sql<{ heartbeat_at: Date | null }[]>`
    insert into recorder.health_observers as o (observer, holder, lease_until)
    values (${observer}, ${holder}, now() + make_interval(secs => ${LEASE_SECONDS}))
    on conflict (observer) do update set holder = excluded.holder, lease_until = excluded.lease_until
    where o.holder is null or o.holder = excluded.holder or o.lease_until < now()
      -- So far ahead only a clock that was set back since can have put it.
      or o.lease_until > clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    returning heartbeat_at`;
  return row ? { heartbeat: row.heartbeat_at?.getTime() ?? null } : 'held';
}

/** Gives the observer to whoever asks next. */
export async function leaveObserver(sql: postgres.Sql, observer: string, holder: string): Promise<void> {
  await sql`
    update recorder.health_observers set holder = null, lease_until = null
    where observer = ${observer} and holder = ${holder}`;
}

/**
 * Writes a batch in one statement and keeps the lease. From its first turn on the ledger of a check is what the batch
 * says, so that writing a batch again changes nothing.
 * @throws LeaseLost when another process has the observer; nothing is written then
 */
export async function writeLedger(
  sql: postgres.Sql,
  observer: string,
  holder: string,
  { heartbeat, absences, turns, probes }: LedgerBatch,
): Promise<void> {
  const latest = new Map(
    turns.map((turn) => [`${turn.node}\n${turn.probe}\n${turn.check}\n${turn.at}`, turn]),
  );
  const [result] = await sql<{ kept: number }[]>`
    with mine as materialized (
      update recorder.health_observers set lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
        heartbeat_at = greatest(heartbeat_at, ${heartbeat === null ? null : iso(heartbeat)}::timestamptz)
      where observer = ${observer} and holder = ${holder} returning observer
    ), absent as (
      insert into recorder.health_absences as a (observer, started_at, ended_at, reason)
      select mine.observer, u.* from mine, jsonb_to_recordset(${text(absences.map(absenceRow))}::text::jsonb)
        as u(started_at timestamptz, ended_at timestamptz, reason text)
      on conflict (observer, started_at) do update set ended_at = greatest(a.ended_at, excluded.ended_at)
    ), turn as materialized (
      select mine.observer, u.* from mine, jsonb_to_recordset(${text([...latest.values()].map(turnRow))}::text::jsonb)
        as u(node text, probe text, check_name text, at timestamptz, state text, error text, message text,
          reported boolean, before bigint)
    ), first as materialized (
      select distinct on (observer, node, probe, check_name) observer, node, probe, check_name, at, before
      from turn order by observer, node, probe, check_name, at
    ), cut as (
      delete from recorder.node_health h using first f
      where (h.observer, h.node, h.probe, h.check_name) = (f.observer, f.node, f.probe, f.check_name)
        and h.started_at >= f.at returning 1
    ), closed as (
      update recorder.node_health h set ended_at = f.at, probes = f.before - h.probes_before from first f
      where (h.observer, h.node, h.probe, h.check_name) = (f.observer, f.node, f.probe, f.check_name)
        and h.started_at < f.at and h.ended_at is null returning 1
    ), written as (
      insert into recorder.node_health
        (observer, node, probe, check_name, state, error, message, reported, started_at, ended_at, probes_before, probes)
      select observer, node, probe, check_name, state, error, message::jsonb, reported, at, next_at, before, next_before - before
      from (select *, lead(at) over following as next_at, lead(before) over following as next_before from turn
        window following as (partition by observer, node, probe, check_name order by at)) t
      -- The counts make these come first: the unique indexes see one row a moment, and one open row.
      where state is not null and (select count(*) from cut) + (select count(*) from closed) >= 0
    ), progress as (
      insert into recorder.health_probes (observer, node, probe, probes, probed_at, suspect, hour, entries)
      select mine.observer, u.node, u.probe, u.probes, u.probed_at, u.suspect::jsonb, u.hour, decode(u.entries, 'hex')
      from mine, jsonb_to_recordset(${text(probes.map(probeRow))}::text::jsonb)
        as u(node text, probe text, probes bigint, probed_at timestamptz, suspect text, hour timestamptz, entries text)
      on conflict (observer, node, probe) do update set probes = excluded.probes, probed_at = excluded.probed_at,
        suspect = excluded.suspect, hour = excluded.hour, entries = excluded.entries
    )
    select count(*)::int as kept from mine`;
  if (result?.kept !== 1) throw new LeaseLost('node-health', `observer=${observer}`);
}

const iso = (at: number) => new Date(at).toISOString();
const text = (rows: readonly unknown[]) => JSON.stringify(rows);
const absenceRow = ({ from, to, reason }: Absence) => ({ started_at: iso(from), ended_at: iso(to), reason });
const turnRow = ({ check, at, ...turn }: LedgerTurn) => ({ ...turn, check_name: check, at: iso(at) });
const probeRow = ({ probedAt, hour, entries, ...progress }: ProbeProgress) => ({
  ...progress,
  probed_at: iso(probedAt),
  hour: hour === null ? null : iso(hour),
  entries: entries?.toString('hex') ?? null,
});
