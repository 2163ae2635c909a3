import type { Dataset } from '../datasets/contract.ts';
import { appearances, eventsOf, keyList } from './changes.ts';
import { contradicts, says } from './saying.ts';
import { incoming, incomingArrays, rowColumns, sameKey, type WriteHistory } from './writing.ts';

/**
 * `log`: a thing is written once, by its natural key. When the upstream later gives other values for it, the new row is
 * shown, and the old row is kept with the time until which it was shown. An answer with more fields completes the row; one
 * with fewer fields removes nothing. A row that was observed earlier (a redrive) is kept, but not shown. A batch holds a
 * key once.
 */
export const writeLog: WriteHistory = (statement, dataset, at) => {
  const table = `recorder.${dataset.name}`;
  const names = rowColumns(dataset).join(', ');
  const recordedAt = statement.param('timestamptz', (write) => write.recordedAt);
  const observedAt = statement.param('timestamptz', (write) => write.observedAt);
  const late = statement.param('boolean', (write) => write.late);
  const rows = statement.param('bigint', ({ batches }) => batches[at]?.rows.length ?? 0);
  const given = incoming(statement, dataset, at);
  const same = sameKey(dataset, 'o', 'n');
  const begins = `greatest(${recordedAt}, n.since + interval '1 microsecond')`;
  return {
    ctes: [
      `written_${at} as (
        insert into ${table} as r (${names}, recorded_at, run_id)
        select ${names}, ${recordedAt}, fence.run_id from (${given}) incoming, fence
        on conflict do nothing returning ${keyList(dataset, 'r')}r.recorded_at)`,
      // Known rows are looked up only when not all rows were new. `offset 0` makes the planner do one index lookup with the
      // whole key for each row, and compare once, not once a column.
      `met_${at} as materialized (
        select ${completed(dataset)}, f.run_id as by_run, o.recorded_at as since, o.place,
          c.contradicts or ${says(dataset, 'n', 'o')} as differs, ${late} and o.recorded_at > ${observedAt} as earlier
        from fence f, (${given}) n
          cross join lateral (
            select o.*, o.ctid as place from ${table} o where ${same} and o.superseded_at is null offset 0) o
          cross join lateral (select ${contradicts(dataset, 'n', 'o')} as contradicts offset 0) c
        where (select count(*) from written_${at}) < ${rows})`,
      `superseded_${at} as (
        update ${table} o set superseded_at = ${begins}
        from met_${at} n where n.differs and not n.earlier and o.ctid = n.place and o.superseded_at is null returning 1)`,
      // The count makes the old one make room first. A row that is neither new nor known was written by another run since
      // this statement began: inserting it again fails on the key, and the commit is made again.
      `said_${at} as (
        insert into ${table} as r (${names}, recorded_at, superseded_at, run_id)
        select ${names}, ${begins}, case when earlier then ${begins} end, by_run from met_${at} n
        where differs and (select count(*) from superseded_${at}) >= 0 and not (earlier and ${known(dataset)})
        union all
        select ${names}, ${recordedAt}, null, f.run_id from fence f, (${given}) n
        where (select count(*) from written_${at}) + (select count(*) from met_${at}) < ${rows}
        returning ${keyList(dataset, 'r')}r.recorded_at, r.superseded_at)`,
    ],
    written: `((select count(*) from written_${at}) + (select count(*) from said_${at}))`,
    unconfirmed: 'null',
    events: eventsOf(
      dataset,
      `select ${keyList(dataset, 'n')}n.recorded_at as begins, 'a' as kind from written_${at} n
        union all select ${keyList(dataset, 'n')}n.recorded_at, case when n.superseded_at is null then 'r' else 's' end from said_${at} n`,
      observedAt,
    ),
  };
};

/**
 * `log`, for rows that are expected to be new: none is looked up, which spares PostgreSQL a fifth of a row's cost. A row that is
 * known after all makes the whole statement fail, with `unique_violation`; {@link writeLog} is for such rows.
 */
export const appendLog: WriteHistory = (statement, dataset, at) => {
  const names = rowColumns(dataset).join(', ');
  const recordedAt = statement.param('timestamptz', (write) => write.recordedAt);
  const observedAt = statement.param('timestamptz', (write) => write.observedAt);
  const arrays = incomingArrays(statement, dataset, at);
  const given = incoming(statement, dataset, at, arrays);
  const written = `(select count(*) from written_${at})`;
  return {
    ctes: [
      `written_${at} as (
        insert into recorder.${dataset.name} (${names}, recorded_at, run_id)
        select ${names}, ${recordedAt}, fence.run_id from (${given}) incoming, fence returning 1)`,
    ],
    written,
    unconfirmed: 'null',
    events: appearances(dataset, arrays, written, recordedAt, observedAt),
  };
};

/** The columns of the new row `n`, completed from the old row `o` unless they contradict each other. */
function completed(dataset: Dataset): string {
  return rowColumns(dataset)
    .map(
      (name) => `case when c.contradicts then n.${name} else coalesce(n.${name}, o.${name}) end as ${name}`,
    )
    .join(', ');
}

/** Whether an earlier row of the same key had the values of `n` already. */
function known(dataset: Dataset): string {
  return `exists (select from recorder.${dataset.name} o where ${sameKey(dataset, 'o', 'n')}
          and not ${contradicts(dataset, 'n', 'o')} and not ${says(dataset, 'n', 'o')})`;
}
