import { NO_CONFIRMATION } from '../histories/absence.ts';
import type { WriteHistory } from '../histories/batch.ts';
import { batchRowsSql, rowColumns, sameKeySql } from '../histories/batch.ts';
import { changeSelectSql } from '../histories/changes.ts';
import { allReadings } from './forms.ts';
import { memberNumberCtes } from './members.ts';
import { integersSql, stripCtes, stripShapeSql } from './strips.ts';
import { MEMBERS_PER_ROW, memberTextsSql, packingOf, regclassSql } from './value-encoding.ts';

/**
 * `sample`: one reading per key and instant. The readings of an observation become one row of strips, one
 * strip per column. Readings that cannot be packed exactly, or whose observation is stored already, become
 * rows of the table of the dataset. These rows are packed with their day (readings/close-day.ts).
 */
export const writeSample: WriteHistory = (statement, dataset, at) => {
  const packing = packingOf(dataset);
  const { values, loose } = packing;
  const suffix = `_${at}`;
  const names = rowColumns(dataset).join(', ');
  const observedAt = statement.param('timestamptz', (write) => write.observedAt);
  const requestArray = `array[${dataset.request
    .map((key) => statement.param('text', ({ target }) => target[key] ?? ''))
    .join(', ')}]`;
  const table = regclassSql(packing);
  const ofScope = `scope_id = (select scope_id from scope${suffix})`;
  const shapes = values.map((value, at) => ({ ...stripShapeSql(value, at + 1), at: at + 1 }));
  const column = (name: string) => `(select array_agg(${name} order by c) from strips${suffix})`;
  return {
    ctes: [
      `incoming${suffix} as materialized (
        select i.*, fence.run_id, ${memberTextsSql(packing, 'i')} as texts, ${loose.map((name) => `i.${name} is null`).join(' and ')} as plain
        from (${batchRowsSql(statement, dataset, at)}) i, fence)`,
      `made_scope${suffix} as materialized (
        insert into recorder.reading_scopes (dataset, request, next_member)
        select ${table}, ${requestArray}, (select count(distinct texts) from incoming${suffix}) where exists (select from incoming${suffix})
          and not exists (select from recorder.reading_scopes where dataset = ${table} and request = ${requestArray})
        returning scope_id)`,
      `scope${suffix} as materialized (
        select scope_id from recorder.reading_scopes where dataset = ${table} and request = ${requestArray} and exists (select from incoming${suffix})
        union all select scope_id from made_scope${suffix})`,
      memberNumberCtes({
        suffix,
        texts: `select texts from incoming${suffix}`,
        newScope: `made_scope${suffix}`,
      }),
      `values${suffix} as materialized (
        select m.n, (row_number() over (order by m.n) - 1)::int as ordinal, ${values.map((one, at) => `g.${one.column.name} as v${at + 1}`).join(', ')},
          ${observedAt} as observed_at, g.plain
        from incoming${suffix} g join numbered${suffix} m on m.texts = g.texts)`,
      `shaped${suffix} as materialized (
        select ${shapes.map(({ scale, trimmed, at: c }) => `${scale} as s${c}, ${trimmed} as t${c}`).join(', ')},
          bool_and(plain) and ${shapes.map(({ fits }) => fits).join(' and ')}
            and not exists (select from recorder.reading_open where ${ofScope} and observed_at = ${observedAt})
            and not exists (select from recorder.reading_observations where ${ofScope} and observed_at = ${observedAt})
            as fits
        from values${suffix} having count(*) = (select count(*) from incoming${suffix}) and count(*) > 0)`,
      `shapes${suffix} as materialized (
        ${shapes.map(({ at: c }) => `select ${c} as c, s${c} as scale, t${c} as trimmed from shaped${suffix} where fits`).join(' union all ')})`,
      `wholes${suffix} as materialized (
        ${integersSql(packing, `values${suffix}`, `shapes${suffix}`, null)})`,
      `ordinals${suffix} as materialized (
        select ordinal from generate_series(0, (select max(ordinal) from wholes${suffix})) ordinal)`,
      ...stripCtes({
        suffix,
        key: 'c',
        wholes: `wholes${suffix}`,
        shapes: `shapes${suffix}`,
        ordinals: `ordinals${suffix}`,
        sloping: false,
      }),
      `observation${suffix} as (
        insert into recorder.reading_open (dataset, scope_id, observed_at, run_id, base, mode, start, present, bits)
        select ${table}, (select scope_id from scope${suffix}), ${observedAt}, fence.run_id, ${column('base')}, ${column('mode')},
          (select array_agg(start order by c) from (select c, (sum(length(bits)) over (order by c) - length(bits))::int as start from strips${suffix}) s),
          ${presence(`select n from values${suffix}`)},
          (select string_agg(bits, '' order by c)::varbit from strips${suffix})
        from fence, shaped${suffix} where fits returning 1)`,
      `written${suffix} as (
        insert into recorder.${dataset.name} as r (${names}, observed_at, run_id)
        select ${names}, ${observedAt}, run_id from incoming${suffix} n
        where not exists (select from observation${suffix}) and not exists (
          select from (${allReadings(packing)}) o where ${sameKeySql(dataset, 'o', 'n')} and o.observed_at = ${observedAt})
        on conflict do nothing returning ${memberTextsSql(packing, 'r')} as texts)`,
      `members${suffix} as (
        insert into recorder.reading_members (scope_id, chunk, seat, texts)
        select (select scope_id from scope${suffix}), n / ${MEMBERS_PER_ROW}, n % ${MEMBERS_PER_ROW} + 1, texts
        from numbered${suffix} m where (exists (select from observation${suffix}) or m.texts in (select texts from written${suffix}))
          and not exists (select from known${suffix} k where k.texts = m.texts) returning 1)`,
      `changed${suffix} as materialized (
        select n from values${suffix} where exists (select from observation${suffix})
        union select m.n from written${suffix} w join numbered${suffix} m on m.texts = w.texts)`,
    ],
    written: `(case when exists (select from observation${suffix}) then (select count(*) from incoming${suffix}) else (select count(*) from written${suffix}) end)`,
    ...NO_CONFIRMATION,
    events: `${changeSelectSql({
      changes: `(select count(*) from changed${suffix})`,
      scope_id: `(select scope_id from scope${suffix})`,
      present: presence(`select n from changed${suffix}`),
    })} where exists (select from changed${suffix})`,
  };
};

/**
 * SQL: a bit string in which bit n is 1 if the set contains the number n. The string ends at the highest
 * number in the set.
 * @param numbers a SELECT of distinct `n`
 */
const presence = (numbers: string) => `(
          select string_agg(repeat('0', (n - before - 1)::int) || '1', '' order by n)::varbit
          from (select n, lag(n, 1, -1) over (order by n) as before from (${numbers}) numbers) gaps)`;
