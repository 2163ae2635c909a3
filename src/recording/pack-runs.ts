import type postgres from 'postgres';
import { tableText } from '../db/orm.ts';
import { packedRuns, runs, targetDatasets } from '../db/schema/bookkeeping.ts';
import { blockOf, canBePacked, isPlain, kindFields, packedNumbers, RUNS_PER_BLOCK } from './packed-form.ts';

/**
 * SQL: condition that a run `r` is needed by its id later, so that it is not packed. This holds for runs up
 * to the first success of its target, which identify the initial members, and for runs of targets that were
 * only recorded manually.
 */
export const isNeededByIdSql = `exists (
    select from ${tableText(targetDatasets)} d
    where d.source = r.source and d.target_key = r.target_key and d.dataset = any(r.datasets)
      and (d.first_success_at is null or d.first_success_at >= r.started_at or (not d.active and d.left_at is null)))`;

const isPackableSql = `${isPlain} and r.finished_at < $1 and not ${isNeededByIdSql} and ${canBePacked}`;

const kind = kindFields.map(({ name }) => name).join(', ');
const growing = packedNumbers.flatMap(({ grows }, at) => (grows ? [at + 1] : []));

/** SQL that packs one block. Runs of the block that stay or end later are packed by a later statement. */
const PACK_SQL = `
  with next as materialized (
    select ${blockOf('r.run_id')} as block from ${tableText(runs)} r where ${isPackableSql} order by r.run_id limit 1
  ), over as materialized (
    -- A block is packed once it is over.
    select next.block * ${RUNS_PER_BLOCK} as first, (next.block + 1) * ${RUNS_PER_BLOCK} as behind from next
    where not exists (select from ${tableText(runs)} y
        where y.run_id >= next.block * ${RUNS_PER_BLOCK} and y.run_id < (next.block + 1) * ${RUNS_PER_BLOCK} and y.finished_at >= $1)
      and exists (select from ${tableText(runs)} y where y.run_id >= (next.block + 1) * ${RUNS_PER_BLOCK})
  ), old as materialized (
    select r.run_id from ${tableText(runs)} r
    where r.run_id >= (select first from over) and r.run_id < (select behind from over) and ${isPackableSql}
    for update of r skip locked
  ), gone as (
    delete from ${tableText(runs)} r using old where r.run_id = old.run_id returning r.*
  ), sorted as (
    select r.run_id, r.started_at, ${kindFields.map(({ name, value }) => `${value} as ${name}`).join(', ')},
      array[${packedNumbers.map(({ value }) => `(${value})::bigint`).join(', ')}] as numbers
    from gone r
  ), placed as materialized (
    select ${kind}, numbers, row_number() over (order by ${kind}, run_id) - 1 as place,
      row_number() over (partition by ${kind} order by run_id) - 1 as j, dense_rank() over (order by ${kind}) as k
    from sorted
  ), cells as materialized (
    select p.k, p.j, p.place, n.at, n.value, case when n.at = any('{${growing.join(',')}}') then
        (max(n.value) over of_kind - min(n.value) over of_kind) / greatest(count(*) over of_kind - 1, 1) else 0 end as step
    from placed p, unnest(p.numbers) with ordinality n(value, at)
    window of_kind as (partition by p.k, n.at)
  ), differences as materialized (
    select k, place, at, step, min(value - step * j) over (partition by k, at) as least,
      value - step * j - min(value - step * j) over (partition by k, at) as more
    from cells
  ), widths as materialized (
    select at, width, sum(width) over (order by at) - width as plane from (
      select at, case max(more) when 0 then 0 else (length(to_hex(max(more))) + 1) / 2 end as width
      from differences group by at) w
  ), planes as (
    select d.at, byte, decode(string_agg(lpad(to_hex((d.more >> (8 * byte)) & 255), 2, '0'), '' order by d.place), 'hex') as plane
    from differences d join widths w using (at), generate_series(0, w.width - 1) byte
    group by d.at, byte
  ), numbers as materialized (
    select k, jsonb_object_agg('least_' || at - 1, least) || jsonb_object_agg('step_' || at - 1, step) as expected
    from (select distinct k, at, least, step from differences) d group by k
  ), kinds as (
    select jsonb_agg(jsonb_strip_nulls(to_jsonb(f)) || n.expected order by k) as kinds
    from (select k, ${kind}, count(*) as runs, min(place) as first from placed group by k, ${kind}) f join numbers n using (k)
  ), packed as (
    insert into ${tableText(packedRuns)} (run_block, first_run, last_run, first_at, runs, widths, planes, kinds, body)
    select ${blockOf('min(g.run_id)')}, min(g.run_id), max(g.run_id), min(g.started_at), count(*),
      (select array_agg(width order by at) from widths), (select array_agg(plane order by at) from widths),
      (select kinds from kinds), (select coalesce(string_agg(plane, '' order by at, byte), '') from planes)
    from gone g having count(*) > 0
  )
  select count(*)::int as moved from gone`;

/**
 * Packs runs that wrote rows and ended longer ago than `keep`, one block per statement. The statement moves
 * them from the table of runs to `recorder.packed_runs`. So no run is lost or duplicated, even if several
 * processes run this or it is stopped. Runs with an error, a note or quarantined items are not packed.
 * @param now ms since 1970
 * @param keep in ms
 * @param signal stops it between two blocks
 * @returns the number of packed runs
 */
export async function packRuns(
  sql: postgres.Sql,
  now: number,
  keep: number,
  signal: AbortSignal,
): Promise<number> {
  const before = new Date(now - keep).toISOString();
  let packed = 0;
  while (!signal.aborted) {
    const [row] = await sql.unsafe<{ moved: number }[]>(PACK_SQL, [before], { prepare: true });
    if (!row || row.moved === 0) break;
    packed += row.moved;
  }
  return packed;
}
