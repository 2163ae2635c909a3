import { tableText } from '../../db/orm.ts';
import { runs } from '../../db/schema/bookkeeping.ts';
import type { SealedHistory, SealForm } from './form.ts';
import { isFresh, isInRange, LEAF_INPUT, leafRowsSql, leavesOf } from './leaves.ts';

/**
 * Maximum number of differences of each kind that one statement lists. Further differences are only counted.
 */
export const MAX_LISTED = 1_000;

/**
 * A leaf without an equal leaf on the other side. `gone`: only in the seal. `extra`: only in the recorded
 * rows. `among`: in a part whose hash differs.
 */
export interface UnmatchedLeaf {
  readonly what: 'gone' | 'extra' | 'among';
  readonly kind: 'row' | 'end';
  readonly day: string;
  readonly instant: string;
  readonly id: string;
  readonly key: string | null;
}

/** The result of a comparison: the number of leaves of each kind, and the first leaves that differ. */
export interface LeafComparison {
  readonly rows: number;
  readonly ends: number;
  readonly unsealed: number;
  readonly missing: number;
  /** The number of missing leaves whose removal was declared. These leaves are not counted in `missing`. */
  readonly removed: number;
  readonly extra: number;
  readonly among: number;
  readonly lone: readonly UnmatchedLeaf[] | null;
}

/**
 * Returns the statement that compares the leaves of the recorded rows with the sealed leaves. $1 to $9 as in
 * {@link LEAF_INPUT}; $10: the dataset; $11: the newest seal; $12: the first seal whose parts count; $13: the
 * end of declared removals, before which leaves may be missing.
 */
export function compareLeavesSql(
  history: SealedHistory,
  names: readonly string[],
  forms: readonly SealForm[],
): string {
  const leaves = forms.map(
    (form, at) =>
      `select '${names[at]}'::text as form, l.* from (${leavesOf(
        form,
        (kind) => isInRange(form, kind),
        (kind) => isFresh({ ...history, form }, kind),
      )}) l`,
  );
  const { form } = history;
  // For observations, the keys are found later in the runs, as for missing leaves.
  const key =
    form.unit === 'look'
      ? 'null::text'
      : `(select ${rowKeySql(form)} from ${leafRowsSql(form)} t where t.ctid = j.row)`;
  // If seals have several forms, rows are read in each form. A row counts as sealed if it was sealed in any
  // form.
  const elsewhere =
    forms.length === 1
      ? ''
      : `and j.form = '${names.at(-1)}' and not exists (
          select from joined o where o.kind = j.kind and o.row = j.row and o.seal is not null)`;
  return `
    with ${LEAF_INPUT}, leaf as (
      select *, id || substr(leaf, 1, 3) as tag from (${leaves.join(' union all ')}) leaves
    ), numbered as (
      select *, row_number() over (partition by form, kind, instant, tag order by leaf) as nth from leaf
    ), stored_parts as materialized (
      select p.kind, p.day, p.seal, p.part, p.node, p.instants, p.tags || ''::bytea as tags, d.form
      from g, recorder.seal_parts p join recorder.seal_datasets d using (dataset, seal)
      where p.dataset = $10 and p.seal between $12 and $11
        and p.day between (g.from_at at time zone 'UTC')::date and (g.to_at at time zone 'UTC')::date
    ), sealed as (
      select *, row_number() over (partition by form, kind, instant, tag order by seal, part, at) as nth
      from (select p.form, p.kind, p.day, p.seal, p.part, u.instant, u.at, substr(p.tags, 9 * u.at::int - 8, 9) as tag,
          cardinality(p.instants) as size, case u.at when 1 then p.node end as node
        from g, stored_parts p, unnest(p.instants) with ordinality as u(instant, at)
        where u.instant >= g.from_at and u.instant < g.to_at) parts
    ), joined as materialized (
      select form, kind, coalesce(s.day, l.day) as day, instant, substr(tag, 1, 6) as id, s.seal, s.part, s.at, s.size, s.node, l.leaf,
        l.place as row, l.started, l.flag
      from sealed s full join numbered l using (form, kind, instant, tag, nth)
    ), wrong_parts as materialized (
      -- Only complete parts are compared: the hash of a part with missing leaves cannot be computed.
      select kind, day, seal, part from joined where seal is not null group by kind, day, seal, part
      having count(leaf) = max(size) and sha256(string_agg(leaf, ''::bytea order by at)) <> (array_agg(node order by at))[1]
    ), wrong as (
      select j.* from joined j join wrong_parts using (kind, day, seal, part)
    ), replacing as materialized (
      select kind, id, min(case when flag and instant >= $13::text::timestamptz then started else '-infinity' end) as started
      from joined where seal is null group by kind, id
    ), missing as materialized (
      -- A leaf with another leaf of the same key in its place was changed, not removed. A late leaf of a row that started after the
      -- missing leaf is not in its place, because the versions of a key do not overlap.
      select m.kind, m.day, m.instant, m.id, m.instant < $13::text::timestamptz
        and coalesce(r.started > m.instant or (kind = 'end' and r.started = m.instant), true) as is_removed
      from joined m left join replacing r using (kind, id) where m.leaf is null
    ), absent as materialized (
      select kind, day, instant, id from missing where not is_removed
    ), unsealed as materialized (
      -- A leaf that replaced a sealed leaf is a change, even if late rows are possible at that time.
      select j.kind, j.day, j.instant, j.id, j.row, not flag or (kind, id) in (select kind, id from absent) as strange
      from joined j where j.seal is null ${elsewhere}
    ), listed_missing as (
      select 'gone' as what, kind, day, instant, id, null::text as key from absent limit ${MAX_LISTED}
    ), extra as (
      select 'extra' as what, kind, day, instant, id, ${key} as key from unsealed j where strange limit ${MAX_LISTED}
    ), among as (
      select 'among' as what, kind, day, instant, id, ${key} as key from wrong j limit ${MAX_LISTED}
    )
    select c.*, (
      select jsonb_agg(jsonb_build_object('what', what, 'kind', kind, 'day', day::text, 'instant',
        coalesce(to_char(instant at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), instant::text), 'id', encode(id, 'hex'), 'key', key) order by instant)
      from (table listed_missing union all table extra union all table among) lone) as lone
    from (select
      (count(*) filter (where j.seal is not null and leaf is not null and w.part is null and kind = 'row'))::float8 as rows,
      (count(*) filter (where j.seal is not null and leaf is not null and w.part is null and kind = 'end'))::float8 as ends,
      (select count(*) from unsealed where not strange)::float8 as unsealed,
      (select count(*) from absent)::float8 as missing,
      (select count(*) from missing where is_removed)::float8 as removed,
      (select count(*) from unsealed where strange)::float8 as extra,
      (select count(*) from wrong)::float8 as among
      from joined j left join wrong_parts w using (kind, day, seal, part)) c`;
}

/** Returns SQL of the key of the row `t` as the text of a JSON object. */
export function rowKeySql(form: SealForm): string {
  if (form.unit === 'look')
    return `(select json_build_object('run_id', t.run_id, 'target', (select r.target_key from ${tableText(runs)} r where r.run_id = t.run_id)))::text`;
  return `json_build_object(${form.key.map(({ name }) => `'${name}', t.${name}`).join(', ')})::text`;
}
