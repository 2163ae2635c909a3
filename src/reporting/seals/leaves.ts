import type postgres from 'postgres';
import { z } from 'zod';
import { findDataset } from '../../datasets/catalog.ts';
import { tableRowsSql } from '../../datasets/target-columns.ts';
import { tableText } from '../../db/orm.ts';
import { runs, targets } from '../../db/schema/bookkeeping.ts';
import { allReadings } from '../../recording/readings/forms.ts';
import { packingOf } from '../../recording/readings/value-encoding.ts';
import type { SealedHistory, SealForm } from './form.ts';

/**
 * The writers that could still write rows of the sealed time when the seal started: runs in progress, and
 * observers after the instant up to which their rows are settled. The next seal accepts such rows as late.
 * Any other new row in a sealed day is reported as added.
 */
const openWriters = z.object({
  /** Runs with this number or a higher number may write after the seal started. */
  run: z.number(),
  /** Runs with this number or a higher number started after the seal started. */
  next_run: z.number(),
  /** The numbers of the runs in progress. */
  runs: z.array(z.number()),
  /** The instant up to which each observer's ledger was settled, at most the end of the seal. */
  observers: z.record(z.string(), z.string()),
});

export type OpenWriters = z.infer<typeof openWriters>;

export const readOpenWriters = (value: unknown): OpenWriters => openWriters.parse(value);

/** Maximum difference between the next run number and the number of a run whose claim is not visible yet. */
const CLAIMED_AT_ONCE = 100;

/**
 * Returns SQL of the current open writers, as jsonb.
 * @param until the end of the seal, as an SQL expression
 */
export const openNow = (until: string) => `(
  select jsonb_build_object('next_run', n.next_run, 'runs', to_jsonb(o.runs),
    'run', least(n.next_run - ${CLAIMED_AT_ONCE}, (select min(run) from unnest(o.runs) run)), 'observers', h.observers)
  from (select coalesce(max(run_id), 0) + 1 as next_run from ${tableText(runs)}) n,
    -- A run whose worker was killed has the status running until its target is claimed again. After a week, such a run writes nothing more.
    (select coalesce(array_agg(r.run_id), '{}') as runs from ${tableText(runs)} r
      join ${tableText(targets)} t on t.run_id = r.run_id
      where r.status = 'running' and t.lease_until > now() - interval '7 days') o,
    (select coalesce(jsonb_object_agg(observer, to_jsonb(settled)), '{}') as observers from (
      select o.observer, least(${until}, coalesce(o.heartbeat_at, '-infinity'), (
        select min((one ->> 'since')::timestamptz) from jsonb_array_elements(o.refused) one)) as settled
      from recorder.health_observers o) settled) h)`;

/**
 * The input of a statement over leaves: a range of instants, and the open writers of this seal and of the
 * previous seal.
 */
export interface LeafRange {
  /** Inclusive start of the range of instants, in the text format of PostgreSQL. */
  readonly from: string;
  /** Exclusive end of the range. */
  readonly to: string;
  /** The previous seal. Null: there is no previous seal, or everything is sealed again. */
  readonly before: { readonly until: string; readonly open: OpenWriters } | null;
  /** Earliest possible end among the rows whose end was set since the previous seal. */
  readonly endFloor: string;
  readonly open: OpenWriters;
}

/** The CTE `g` with one row: the input of {@link leavesOf}. Parameters: $1 to $9. */
export const LEAF_INPUT = `g as materialized (
  select $1::text::timestamptz as from_at, $2::text::timestamptz as to_at, $3::text::timestamptz as before_until, $4::bigint as before_run,
    $5::text::timestamptz as end_floor, $6::text::jsonb as settled_before, $7::bigint as next_run, $8::text::bigint[] as open_runs,
    $9::text::jsonb as settled)`;

/** Returns the parameters of {@link LEAF_INPUT}. */
export function leafInputParams({
  from,
  to,
  before,
  endFloor,
  open,
}: LeafRange): postgres.ParameterOrJSON<never>[] {
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

/** Returns SQL of whether a leaf may have been written since the previous seal. */
export function isFresh({ writer, form }: Pick<SealedHistory, 'writer' | 'form'>, kind: Kind): string {
  const at = `t.${(kind === 'row' ? form.from : form.to) ?? form.from}`;
  if (writer === 'observer')
    return `${at} >= coalesce((g.settled_before ->> t.observer)::timestamptz, '-infinity')`;
  return kind === 'row' ? `(${at} >= g.before_until or t.run_id >= g.before_run)` : `${at} >= g.end_floor`;
}

/**
 * Returns SQL of whether a leaf is final: the run of an observation has ended, or the observer has settled
 * its rows up to that instant.
 */
export function isSettled({ writer, form }: Pick<SealedHistory, 'writer' | 'form'>, kind: Kind): string {
  const at = `t.${(kind === 'row' ? form.from : form.to) ?? form.from}`;
  if (writer === 'observer') return `coalesce(${at} < (g.settled ->> t.observer)::timestamptz, true)`;
  return form.unit === 'look' ? '(t.run_id < g.next_run and not t.run_id = any(g.open_runs))' : 'true';
}

/** Returns SQL of whether the instant of a leaf is in the range. */
export function isInRange(form: SealForm, kind: Kind): string {
  const at = `t.${(kind === 'row' ? form.from : form.to) ?? form.from}`;
  return `${at} >= g.from_at and ${at} < g.to_at`;
}

/**
 * Returns the kinds of leaves of a table: rows, and also ends if the form has a column with the end of a row.
 */
export const kindsOf = (form: SealForm): readonly Kind[] => (form.to === null ? ['row'] : ['row', 'end']);

const day = (instant: string) => `(${instant} at time zone 'UTC')::date`;

/**
 * Returns SQL of a value in the form that is hashed. Trailing zeros of a number are removed, because they do
 * not change the number.
 */
const hashed = ({ name, type }: { name: string; type: string }) =>
  type === 'numeric' ? `trim_scale(t.${name})` : `t.${name}`;

/**
 * Returns SQL of the hash of values. The hash is computed from PostgreSQL's binary format of a row, which
 * does not depend on the settings of a session. Texts are in UTF-8, the encoding of both the database and the
 * session.
 */
const hashOf = (kind: string, values: readonly string[]) =>
  `sha256(record_send(row('${kind}'::text, ${values.join(', ')})))`;

/**
 * Returns SQL of the id of a row in a difference: the first six bytes of the hash of its key, or of the run
 * for an observation.
 */
export function identityOf(form: SealForm): string {
  return form.unit === 'look'
    ? `substr(${hashOf('look', ['t.run_id'])}, 1, 6)`
    : `substr(${hashOf('key', form.key.map(hashed))}, 1, 6)`;
}

/**
 * Returns SQL of a FROM item with the rows of a form; readings in all their storage formats. No view is used,
 * because users may change views.
 */
export function leafRowsSql({ unit, table }: SealForm): string {
  const dataset = findDataset(table);
  if (!dataset) return `recorder.${table}`;
  return unit === 'look' ? `(${allReadings(packingOf(dataset))})` : tableRowsSql(dataset, 'ctid');
}

/**
 * Returns SQL of the leaves of a table: a SELECT of kind, day, instant, started (the start of the row), id,
 * leaf, place (the ctid of a row) and flag. The values that are fixed when a row is recorded are one leaf,
 * which belongs to the day of the recording. The end of a row is another leaf, which belongs to the day of the
 * end.
 * @param where returns the SQL condition for a kind, over the table `t` and the row `g`
 * @param flag returns SQL of the column `flag` for a kind, over `t` and `g`
 */
export function leavesOf(
  form: SealForm,
  where: (kind: Kind) => string,
  flag: (kind: Kind) => string,
): string {
  const table = `${leafRowsSql(form)} t`;
  const key = form.key.map(hashed);
  const row = hashOf('row', [...key, `t.${form.from}`, ...form.content.map(hashed)]);
  if (form.unit === 'look')
    return `
      select 'row'::text as kind, ${day('instant')} as day, instant, instant as started, id, sha256(string_agg(leaf, ''::bytea order by leaf)) as leaf,
        null::tid as place, bool_or(flag) as flag
      from (select t.${form.from} as instant, ${identityOf(form)} as id, ${row} as leaf, ${flag('row')} as flag
        from g, ${table} where ${where('row')}) looked
      group by instant, id`;
  const select = (kind: Kind, at: string, leaf: string) => `
      select '${kind}'::text as kind, ${day(`t.${at}`)} as day, t.${at} as instant, t.${form.from} as started,
        ${identityOf(form)} as id, ${leaf} as leaf, t.ctid as place, ${flag(kind)} as flag
      from g, ${table} where ${where(kind)}`;
  const rows = select('row', form.from, row);
  if (form.to === null) return rows;
  const end = hashOf('end', [...key, `t.${form.from}`, `t.${form.to}`, ...form.end.map(hashed)]);
  return `${rows} union all ${select('end', form.to, end)}`;
}
