import type postgres from 'postgres';
import { findDataset } from '../../datasets/catalog.ts';
import { tableText } from '../../db/orm.ts';
import { runs } from '../../db/schema/bookkeeping.ts';
import { nameOfForm, type SealedHistory } from './form.ts';
import {
  isFresh,
  isInRange,
  isSettled,
  kindsOf,
  LEAF_INPUT,
  type LeafRange,
  leafInputParams,
  leafRowsSql,
  leavesOf,
  type OpenWriters,
} from './leaves.ts';
import { datasetHead } from './statement.ts';

/** Maximum number of leaves per part. */
const MAX_LEAVES_PER_PART = 256;
/**
 * Maximum number of leaves per statement, unless one hour has more leaves. The limit bounds the memory and
 * the temporary files of sorting.
 */
const MAX_LEAVES_PER_STATEMENT = 1_000_000;

/**
 * A seal that was started and is not finished. Instants are in PostgreSQL's text format, to the microsecond.
 */
export interface PendingSeal {
  readonly seal: number;
  readonly until: string;
  readonly open: OpenWriters;
}

/**
 * Seals the new rows of one dataset. A second call adds only missing parts.
 * @returns false if the work was stopped
 */
export async function sealDataset(
  sql: postgres.Sql,
  history: SealedHistory,
  pending: PendingSeal,
  last: LeafRange['before'],
  signal: AbortSignal,
): Promise<boolean> {
  const { dataset, form } = history;
  const [known] = await sql<
    { base: number; before: string | null; changes: string[]; newest: number; again: boolean }[]
  >`
    select coalesce(max(d.seal) filter (where exists (select from unnest(d.changes) c where c like 'resealed:%')), 0) as base,
      (array_agg(d.head order by d.seal desc))[1] as before, c.changes, c.newest, c.again
    from (select coalesce(array_agg(kind || ': ' || reason order by id), '{}') as changes, coalesce(max(id), 0) as newest,
        coalesce(bool_or(kind = 'resealed'), false) as again
      from recorder.seal_changes where dataset = ${dataset} and seal is null) c
    left join recorder.seal_datasets d on d.dataset = ${dataset}
    group by c.changes, c.newest, c.again`;
  const { base = 0, before: headBefore = null, changes = [], newest = 0, again = false } = known ?? {};
  const since = again ? pending.seal : base;
  // A dataset that is sealed for the first time, or sealed again, is sealed from its start.
  const before = headBefore === null || again ? null : last;
  const range: LeafRange = {
    from: '-infinity',
    to: pending.until,
    before,
    endFloor: before ? await endFloorOf(sql, history, before) : '-infinity',
    open: pending.open,
  };
  for (const { from, to } of await chunksOf(sql, history, range)) {
    if (signal.aborted) return false;
    await sql.unsafe(insertPartsSql(history), [
      ...leafInputParams({ ...range, from, to }),
      dataset,
      pending.seal,
      since,
    ]);
  }
  const [totals] = await sql.unsafe<{ rows: number; ends: number; late: number; root: string }[]>(
    `select coalesce(sum(cardinality(instants)) filter (where kind = 'row'), 0)::float8 as rows,
      coalesce(sum(cardinality(instants)) filter (where kind = 'end'), 0)::float8 as ends,
      coalesce(sum(case when instants[1] < $3::text::timestamptz then (select count(*) from unnest(instants) at where at < $3::text::timestamptz) end),
        0)::float8 as late, ${ROOT} as root
    from recorder.seal_parts where dataset = $1 and seal = $2`,
    [dataset, pending.seal, before?.until ?? '-infinity'],
  );
  if (!totals) throw new Error(`the query for the seal of ${dataset} returned no row`);
  if (totals.rows + totals.ends === 0 && headBefore !== null && changes.length === 0) return true;
  const name = nameOfForm(form);
  const head = datasetHead({
    seal: pending.seal,
    dataset,
    form: name,
    ...totals,
    changes,
    before: headBefore,
  });
  await sql`
    with form as (
      insert into recorder.seal_forms (form, definition) values (${name}, ${JSON.stringify(form)}::text::jsonb) on conflict do nothing
    ), change as (
      update recorder.seal_changes set seal = ${pending.seal} where dataset = ${dataset} and seal is null and id <= ${newest}
    )
    insert into recorder.seal_datasets (dataset, seal, form, rows, ends, late, changes, root, before, head)
    values (${dataset}, ${pending.seal}, ${name}, ${totals.rows}, ${totals.ends}, ${totals.late}, ${changes}::text[], ${totals.root},
      ${headBefore}, ${head})`;
  return true;
}

/** SQL of the root hash of the tree over the parts of a seal. */
export const ROOT = `encode(sha256(convert_to(coalesce(string_agg(concat_ws(' ', kind, day, part, encode(node, 'hex'),
  encode(sha256(array_send(instants) || tags), 'hex')) || E'\\n', '' order by kind collate "C", day, part), ''), 'UTF8')), 'hex')`;

/**
 * Returns the earliest possible end of a row, among the rows whose end was recorded since the previous seal,
 * in PostgreSQL's text format. This end is before the end of the previous seal in four cases:
 * - a run that started earlier was still in progress;
 * - a clock was behind;
 * - values that were observed earlier were read later;
 * - the absence of a member was confirmed later than the member ended.
 */
export async function endFloorOf(
  sql: postgres.Sql,
  { dataset, form, writer }: SealedHistory,
  before: NonNullable<LeafRange['before']>,
): Promise<string> {
  if (writer === 'observer' || form.to === null) return before.until;
  const confirmed =
    findDataset(dataset)?.history === 'state'
      ? `(select min(t.${form.to}) from recorder.${form.table} t where t.confirmed_at >= f.floor)`
      : 'null';
  const [row] = await sql.unsafe<{ floor: string }[]>(
    `select least(f.floor, ${confirmed})::text as floor from (select least($1::text::timestamptz,
      (select min(r.started_at) from ${tableText(runs)} r where r.run_id >= $2 and $3 = any(r.datasets)),
      (select min(t.${form.from}) from recorder.${form.table} t where t.run_id >= $2)) as floor) f`,
    [before.until, before.open.run, dataset],
  );
  return row?.floor ?? before.until;
}

/**
 * Returns the ranges of a dataset that a seal reads, one range per statement. The ranges are in order and
 * consist of whole hours: inclusive start, exclusive end.
 */
async function chunksOf(
  sql: postgres.Sql,
  history: SealedHistory,
  range: LeafRange,
): Promise<{ from: string; to: string }[]> {
  const { form } = history;
  const counts = kindsOf(form).map((kind) => {
    const at = `t.${kind === 'row' ? form.from : form.to}`;
    return `select date_trunc('hour', ${at}) as hour, count(*) as leaves from g, ${leafRowsSql(form)} t
      where ${[isInRange(form, kind), isFresh(history, kind), isSettled(history, kind)].join(' and ')} group by 1`;
  });
  return sql.unsafe<{ from: string; to: string }[]>(
    `with ${LEAF_INPUT}, hours as (select hour, sum(leaves) as leaves from (${counts.join(' union all ')}) counted group by hour),
      running as (select hour, sum(leaves) over (order by hour) as leaves from hours)
    select greatest(g.from_at, min(hour))::text as from, least(g.to_at, max(hour) + interval '1 hour')::text as to
    from running, g group by g.from_at, g.to_at, ceil(leaves / ${MAX_LEAVES_PER_STATEMENT}) order by min(hour)`,
    leafInputParams(range),
  );
}

/**
 * Returns the statement that adds parts for the leaves of a range that are new and not sealed yet. $1 to $9
 * as in {@link LEAF_INPUT}; $10: the dataset; $11: the seal; $12: the first seal whose parts count.
 */
function insertPartsSql(history: SealedHistory): string {
  const { form } = history;
  const leaves = leavesOf(
    form,
    (kind) => [isInRange(form, kind), isFresh(history, kind), isSettled(history, kind)].join(' and '),
    () => 'false',
  );
  return `
    with ${LEAF_INPUT}, leaf as (${leaves}
    ), stored_parts as materialized (
      select p.kind, p.day, p.seal, p.part, p.instants, p.tags || ''::bytea as tags from recorder.seal_parts p, g
      where p.dataset = $10 and p.seal >= $12 and p.day between (g.from_at at time zone 'UTC')::date and (g.to_at at time zone 'UTC')::date
    ), sealed as (
      select p.kind, u.instant, substr(p.tags, 9 * u.place::int - 8, 6) as id
      from stored_parts p, unnest(p.instants) with ordinality as u(instant, place)
    ), placed as (
      -- A boolean instead of the kind: comparing texts would take a fifth of the time of the statement.
      select l.*, (row_number() over (partition by day, kind = 'end' order by instant, leaf) - 1) as at from leaf l
      where not exists (select from sealed s where s.kind = l.kind and s.instant = l.instant and s.id = l.id)
    ), numbered as (
      select p.*, (p.at / ${MAX_LEAVES_PER_PART})::int + coalesce(n.next, 0) as part from placed p
      left join (select kind, day, max(part) + 1 as next from stored_parts where seal = $11 group by kind, day) n using (kind, day)
    )
    insert into recorder.seal_parts (dataset, day, kind, seal, part, instants, tags, node)
    select $10, day, kind, $11, part, array_agg(instant order by at),
      string_agg(id || substr(leaf, 1, 3), ''::bytea order by at), sha256(string_agg(leaf, ''::bytea order by at))
    from numbered group by day, kind, part`;
}
