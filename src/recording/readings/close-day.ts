import type { Dataset } from '../../datasets/contract.ts';
import {
  type ReadingForm,
  selectClosedDayReadings,
  selectOf,
  selectOpenDayReadings,
  selectRowReadings,
} from './forms.ts';
import { memberNumberCtes } from './members.ts';
import { integersSql, stripCtes, stripShapeSql } from './strips.ts';
import { MEMBERS_PER_ROW, numbersOf, type Packing, packingOf, regclassSql } from './value-encoding.ts';

/** Result of closing a day. */
export interface CloseDayResult {
  /** Number of packed readings. */
  readonly packed: number;
  /** Number of readings that remain rows, because they cannot be packed exactly. */
  readonly kept: number;
}

/**
 * Builds the statement that packs a day of a scope. The statement converts all readings of the day, in any
 * form, to strips and deletes the original form. The statement reads the result back, and fails if a digit of
 * any reading differs. $1: values of the request; $2: the day (UTC). The statement returns {@link
 * CloseDayResult}, both numbers as `int`.
 */
export function closeDaySql(dataset: Dataset): string {
  const packing = packingOf(dataset);
  const { texts, values, request } = packing;
  const count = values.length;
  const numbers = numbersOf(packing).map(({ at }) => at);
  const begins = `($2::date::timestamp at time zone 'UTC')`;
  const ends = `(($2::date + 1)::timestamp at time zone 'UTC')`;
  const inDay = (column: string) => `${column} >= ${begins} and ${column} < ${ends}`;
  const ofRequest = request.map(({ name }, at) => `r.${name} = ($1::text[])[${at + 1}]`);
  const rows = selectRowReadings(packing, [...ofRequest, inDay('r.observed_at')].join(' and '));
  const ofScope = `l.scope_id = (select scope_id from scope)`;
  const forms = [
    { form: rows, from: 'r.ctid' },
    { form: selectOpenDayReadings(packing, `${ofScope} and ${inDay('l.observed_at')}`), from: 'null::tid' },
    { form: selectClosedDayReadings(packing, `${ofScope} and ${inDay('l.observed_at')}`), from: 'null::tid' },
  ];
  const shapes = values.map((value, at) => ({ ...stripShapeSql(value, at + 1), at: at + 1 }));
  const readingTexts = [...values.map((_, at) => `v${at + 1}::text`), 'observed_at', 'run_id'].join(', ');
  const written = selectClosedDayReadings(packing, 'true', {
    observations: 'observations',
    days: 'days',
    members: 'members',
  });
  const v = values.map((_, at) => `v${at + 1}`).join(', ');
  return `
    with scope as materialized (
      select scope_id from recorder.reading_scopes where dataset = ${regclassSql(packing)} and request = $1::text[]
    ), found as (
      ${forms.map(({ form, from }) => readingsOf(packing, form, from)).join('\n      union all\n      ')}
    ),
    ${memberNumberCtes({ suffix: '', texts: 'select texts from found' })},
    readings as materialized (
      -- A reading that was recorded again is stored in two forms, and counts once.
      select distinct on (m.n, f.observed_at) m.n, f.*
      from found f join numbered m on m.texts = f.texts order by m.n, f.observed_at, f.row_ctid nulls first
    ), shaped as materialized (
      select n, ${shapes.map(({ scale, trimmed, at }) => `${scale} as s${at}, ${trimmed} as t${at}`).join(', ')},
        bool_and(plain) and ${shapes.map(({ fits }) => fits).join(' and ')} as fits
      from readings group by n
    ), observations as materialized (
      select scope_id, observed_at, run_id, $2::date as day,
        (row_number() over (order by observed_at, run_id) - 1)::int as ordinal
      from scope cross join (select distinct observed_at, run_id from readings r join shaped h on h.n = r.n and h.fits) l
    ), fitting as materialized (
      select r.n, l.ordinal, ${v}, r.observed_at, r.run_id, r.row_ctid
      from readings r join shaped h on h.n = r.n and h.fits
        join observations l on l.observed_at = r.observed_at and l.run_id = r.run_id
    ), shapes as materialized (
      ${shapes.map(({ at }) => `select n, ${at} as c, s${at} as scale, t${at} as trimmed from shaped where fits`).join(' union all ')}
    ), wholes as materialized (
      ${integersSql(packing, 'fitting', 'shapes', 'n')}
    ),
    ${stripCtes({ suffix: '', key: 'n, c', wholes: 'wholes', shapes: 'shapes', ordinals: 'observations', sloping: true }).join(',\n    ')},
    presence as materialized (
      select m.n, string_agg(case when f.n is null then '0' else '1' end, '' order by l.ordinal) as bits, count(f.n) as read
      from (select distinct n from strips) m cross join observations l left join fitting f on f.n = m.n and f.ordinal = l.ordinal group by m.n
    ), sums as materialized (
      select n, c, sum(whole) as sum, count(whole) as value_count from wholes group by n, c
    ), cells as materialized (
      select u.chunk, u.seat, c.c, s.base, s.slope, s.mode, coalesce(s.bits, '') as bits, t.sum, coalesce(t.value_count, 0) as value_count,
        sum(length(coalesce(s.bits, ''))) over (partition by u.chunk order by u.seat, c.c) - length(coalesce(s.bits, '')) as start
      from (select distinct n / ${MEMBERS_PER_ROW} as chunk from strips) k
        cross join lateral (select k.chunk, seat from generate_series(1, ${MEMBERS_PER_ROW}) seat) u
        cross join generate_series(1, ${count}) c
        left join strips s on s.n = u.chunk * ${MEMBERS_PER_ROW} + u.seat - 1 and s.c = c.c
        left join sums t on t.n = s.n and t.c = s.c
    ), seated as (
      select k.chunk, (select count(*) from observations) as observation_count,
        bool_and(p.n is null or p.read = (select count(*) from observations)) as whole,
        string_agg(coalesce(p.bits, repeat('0', (select count(*) from observations)::int)), '' order by u.seat) as bits
      from (select distinct n / ${MEMBERS_PER_ROW} as chunk from strips) k cross join generate_series(1, ${MEMBERS_PER_ROW}) u(seat)
        left join presence p on p.n = k.chunk * ${MEMBERS_PER_ROW} + u.seat - 1
      group by k.chunk
    ), days as materialized (
      select (select scope_id from scope) as scope_id, c.chunk, $2::date as day, s.observation_count::int as observation_count,
        array_agg(c.base order by seat, c.c) as base,
        case when bool_or(c.slope <> 0) then array_agg(coalesce(c.slope, 0) order by seat, c.c) end as slope,
        array_agg(coalesce(c.mode, 0) order by seat, c.c) as mode,
        array_agg(c.start::int order by seat, c.c) as start,
        case when not s.whole then s.bits::varbit end as present,
        string_agg(c.bits, '' order by seat, c.c)::varbit as bits,
        coalesce(array_agg(c.sum order by seat, c.c) filter (where c.c in (${numbers.join(', ') || 'null'})), '{}') as sums,
        coalesce(array_agg(c.value_count::int order by seat, c.c) filter (where c.c in (${numbers.join(', ') || 'null'})), '{}') as value_counts
      from cells c join seated s on s.chunk = c.chunk group by c.chunk, s.observation_count, s.whole, s.bits
    ), members as materialized (
      select (select scope_id from scope) as scope_id, n::int / ${MEMBERS_PER_ROW} as chunk, (n % ${MEMBERS_PER_ROW} + 1)::int as seat, texts from numbered
    ), reread as materialized (
      select m.chunk * ${MEMBERS_PER_ROW} + m.seat - 1 as n, ${values
        .map(({ column }, at) => `${written.columns.get(column.name)} as v${at + 1}`)
        .join(', ')}, l.observed_at, l.run_id
      from ${written.from}
    ), wrong as materialized (
      select count(*) as readings from (
        (select n, ${readingTexts} from fitting except all select n, ${readingTexts} from reread)
        union all
        (select n, ${readingTexts} from reread except all select n, ${readingTexts} from fitting)) differing
    ), checked as materialized (
      select case when w.readings = 0 then true else reporting_internal.refused(format(
        'the readings of %s of %s on %s are not the same when they are packed: %s differ', ${regclassSql(packing)}, $1::text[], $2::date, w.readings)) is null end as fine
      from wrong w
    ), deleted_rows as (
      delete from recorder.${dataset.name} r using fitting f where r.ctid = f.row_ctid and (select fine from checked) returning 1
    ), deleted_duplicates as (
      delete from recorder.${dataset.name} r using found f join numbered m on m.texts = f.texts
        join readings g on g.n = m.n and g.observed_at = f.observed_at and g.row_ctid is null
      where r.ctid = f.row_ctid and (select fine from checked) returning 1
    ), deleted_open as (
      delete from recorder.reading_open l where ${ofScope} and ${inDay('l.observed_at')} and (select fine from checked) returning 1
    ), deleted_observations as (
      delete from recorder.reading_observations l where ${ofScope} and ${inDay('l.observed_at')} and (select fine from checked) returning 1
    ), deleted_days as (
      delete from recorder.reading_days l where ${ofScope} and l.day = $2::date and (select fine from checked) returning 1
    ), kept as materialized (
      select r.* from readings r join shaped h on h.n = r.n and not h.fits
    ), kept_rows as (
      insert into recorder.${dataset.name} (${[...request, ...texts, ...values.map(({ column }) => column)].map(({ name }) => name).join(', ')}, observed_at, run_id)
      select ${[...request.map((_, at) => `($1::text[])[${at + 1}]`), ...texts.map((_, at) => `texts[${at + 1}]`), ...values.map((_, at) => `v${at + 1}`)].join(', ')}, observed_at, run_id
      from kept where row_ctid is null and (select fine from checked) returning 1
    ), new_members as (
      insert into recorder.reading_members (scope_id, chunk, seat, texts)
      select scope_id, chunk, seat, m.texts from members m
      where not exists (select from known k where k.texts = m.texts) and exists (select from strips s where s.n = m.chunk * ${MEMBERS_PER_ROW} + m.seat - 1) returning 1
    ), new_observations as (
      -- The count makes the deletion of the earlier rows run first.
      insert into recorder.reading_observations (scope_id, observed_at, run_id, day, ordinal)
      select scope_id, observed_at, run_id, day, ordinal from observations
      where (select count(*) from deleted_observations) >= 0 and (select fine from checked) returning 1
    ), new_days as (
      insert into recorder.reading_days (scope_id, chunk, day, observation_count, base, slope, mode, start, present, bits, sums, value_counts)
      select scope_id, chunk, day, observation_count, base, slope, mode, start, present, bits, sums, value_counts from days
      where (select count(*) from deleted_days) >= 0 and (select fine from checked) returning 1
    ), remembered as (
      insert into recorder.reading_kept as k (scope_id, day, rows)
      select scope_id, $2::date, (select count(*) from kept) from scope where (select count(*) from kept) > 0
      on conflict (scope_id, day) do update set rows = excluded.rows returning 1
    )
    select (select count(*) from fitting)::int as packed, (select count(*) from kept)::int as kept`;
}

function readingsOf({ texts, values, loose }: Packing, form: ReadingForm, rowCtid: string): string {
  const text = ({ name }: { name: string }) => form.columns.get(name) ?? 'null';
  const plain = loose.flatMap((name) => form.columns.get(name) ?? []).map((column) => `${column} is null`);
  const columns = new Map([
    ['texts', texts.length === 0 ? `'{}'::text[]` : `array[${texts.map(text).join(', ')}]::text[]`],
    ...values.map(({ column }, at): [string, string] => [`v${at + 1}`, text(column)]),
    ['observed_at', text({ name: 'observed_at' })],
    ['run_id', text({ name: 'run_id' })],
    ['plain', plain.join(' and ') || 'true'],
    ['row_ctid', rowCtid],
  ]);
  return selectOf(
    { columns, from: form.from },
    [...columns.keys()].map((name) => [name, '']),
  );
}
