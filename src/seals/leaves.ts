import type postgres from 'postgres';
import { z } from 'zod';
import type { SealedHistory, SealForm } from './form.ts';

/**
 * What could still be written with an instant before a seal when that seal began: by runs that were under way, and by
 * observers beyond their heartbeat. The next seal takes it as late; what else appears in a sealed day was put there.
 */
const openWriters = z.object({
  /** Runs from this number on may write after the seal. */
  run: z.number(),
  /** Runs from this number on began after it. */
  next_run: z.number(),
  /** Runs that were under way. */
  runs: z.array(z.number()),
  /** Up to where each observer's ledger was settled, or the seal's own end. */
  observers: z.record(z.string(), z.string()),
});

export type OpenWriters = z.infer<typeof openWriters>;

export const readOpenWriters = (value: unknown): OpenWriters => openWriters.parse(value);

/** A run that is claimed in this moment is not to be seen yet: so many numbers back there is surely none. */
const CLAIMED_AT_ONCE = 100;

/** The expression for what is open now, as jsonb; `until` is the seal's end. */
export const openNow = (until: string) => `(
  select jsonb_build_object('next_run', n.next_run, 'runs', to_jsonb(o.runs),
    'run', least(n.next_run - ${CLAIMED_AT_ONCE}, (select min(run) from unnest(o.runs) run)), 'observers', h.observers)
  from (select coalesce(max(run_id), 0) + 1 as next_run from recorder.runs) n,
    -- A run that lost its worker stays as it is until its target is claimed again. After a week nothing comes any more.
    (select coalesce(array_agg(r.run_id), '{}') as runs from recorder.runs r
      join recorder.targets t on t.run_id = r.run_id
      where r.status = 'running' and t.lease_until > now() - interval '7 days') o,
    (select coalesce(jsonb_object_agg(observer, to_jsonb(settled)), '{}') as observers from (
      select o.observer, least(${until}, coalesce(o.heartbeat_at, '-infinity'), (
        select min((one ->> 'since')::timestamptz) from jsonb_array_elements(o.refused) one)) as settled
      from recorder.health_observers o) settled) h)`;

/** What a statement over leaves is told: a range of instants, and what was open at this seal and the one before. */
export interface Range {
  /** PostgreSQL's text of instants. */
  readonly from: string;
  readonly to: string;
  /** Null: no seal was before. */
  readonly before: { readonly until: string; readonly open: OpenWriters } | null;
  /** From here on ends may have been set since the seal before. */
  readonly endFloor: string;
  readonly open: OpenWriters;
}

/** The CTE `g`, one row: what {@link leavesOf} reads. Its parameters are $1 to $9. */
export const GIVEN = `g as materialized (
  select $1::text::timestamptz as from_at, $2::text::timestamptz as to_at, $3::text::timestamptz as before_until, $4::bigint as before_run,
    $5::text::timestamptz as end_floor, $6::text::jsonb as settled_before, $7::bigint as next_run, $8::text::bigint[] as open_runs,
    $9::text::jsonb as settled)`;

/** The parameters of {@link GIVEN}. */
export function given({ from, to, before, endFloor, open }: Range): postgres.ParameterOrJSON<never>[] {
  return [
    from,
    to,
    before?.until ?? '-infinity',
    before?.open.run ?? 0,
    endFloor,
    JSON.stringify(before?.open.observers ?? {}),
    open.next_run,
    `{${open.runs.join(',')}}`,
    JSON.stringify(open.observers),
  ];
}

type Kind = 'row' | 'end';

/** Whether what has an instant in the range can have been written since the seal before. */
export function isFresh({ writer, form }: Pick<SealedHistory, 'writer' | 'form'>, kind: Kind): string {
  const at = `t.${(kind === 'row' ? form.from : form.to) ?? form.from}`;
  if (writer === 'observer')
    return `${at} >= coalesce((g.settled_before ->> t.observer)::timestamptz, '-infinity')`;
  return kind === 'row' ? `(${at} >= g.before_until or t.run_id >= g.before_run)` : `${at} >= g.end_floor`;
}

/** Whether nothing more comes to it: a look of a run that goes on is not whole. */
export function isSettled({ writer, form }: Pick<SealedHistory, 'writer' | 'form'>, kind: Kind): string {
  const at = `t.${(kind === 'row' ? form.from : form.to) ?? form.from}`;
  if (writer === 'observer') return `coalesce(${at} < (g.settled ->> t.observer)::timestamptz, true)`;
  return form.unit === 'look' ? '(t.run_id < g.next_run and not t.run_id = any(g.open_runs))' : 'true';
}

/** Whether its instant is in the range. */
export function isInRange(form: SealForm, kind: Kind): string {
  const at = `t.${(kind === 'row' ? form.from : form.to) ?? form.from}`;
  return `${at} >= g.from_at and ${at} < g.to_at`;
}

/** The kinds of leaves of a form. */
export const kindsOf = (form: SealForm): readonly Kind[] => (form.to === null ? ['row'] : ['row', 'end']);

const day = (instant: string) => `(${instant} at time zone 'UTC')::date`;

/** A value as it is hashed: a number's trailing zeros say nothing. */
const hashed = ({ name, type }: { name: string; type: string }) =>
  type === 'numeric' ? `trim_scale(t.${name})` : `t.${name}`;

/**
 * PostgreSQL's binary form of a row is the same in every session, whatever its settings; texts are in UTF-8, which is the
 * database's encoding and the session's.
 */
const hashOf = (kind: string, values: readonly string[]) =>
  `sha256(record_send(row('${kind}'::text, ${values.join(', ')})))`;

/** What identifies a row for the reader of a finding: six bytes of the hash of its key. */
export function identityOf(form: SealForm): string {
  return form.unit === 'look'
    ? `substr(${hashOf('look', ['t.run_id'])}, 1, 6)`
    : `substr(${hashOf('key', form.key.map(hashed))}, 1, 6)`;
}

/**
 * The leaves of a table, as SELECT of kind, day, instant, id, leaf, place (a row of the table) and, by the word, more.
 * What is fixed when a row is recorded is one leaf, in the day of that; how it ended is another, in the day of that.
 * @param where the condition, by kind, on the table `t` and the row `g`
 * @param flag another column, by kind, as an expression on `t` and `g`
 */
export function leavesOf(
  form: SealForm,
  where: (kind: Kind) => string,
  flag: (kind: Kind) => string,
): string {
  const table = `recorder.${form.table} t`;
  const key = form.key.map(hashed);
  const row = hashOf('row', [...key, `t.${form.from}`, ...form.content.map(hashed)]);
  if (form.unit === 'look')
    return `
      select 'row'::text as kind, ${day('instant')} as day, instant, id, sha256(string_agg(leaf, ''::bytea order by leaf)) as leaf,
        min(place) as place, bool_or(flag) as flag
      from (select t.${form.from} as instant, ${identityOf(form)} as id, ${row} as leaf, t.ctid as place, ${flag('row')} as flag
        from g, ${table} where ${where('row')}) looked
      group by instant, id`;
  const select = (kind: Kind, at: string, leaf: string) => `
      select '${kind}'::text as kind, ${day(`t.${at}`)} as day, t.${at} as instant, ${identityOf(form)} as id, ${leaf} as leaf,
        t.ctid as place, ${flag(kind)} as flag
      from g, ${table} where ${where(kind)}`;
  const rows = select('row', form.from, row);
  if (form.to === null) return rows;
  const end = hashOf('end', [...key, `t.${form.from}`, `t.${form.to}`, ...form.end.map(hashed)]);
  return `${rows} union all ${select('end', form.to, end)}`;
}
