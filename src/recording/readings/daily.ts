import type { DatasetColumn } from '../../datasets/contract.ts';
import { type ReadingForm, selectOpenDayReadings, selectRowReadings } from './forms.ts';
import { unitSql } from './strip.ts';
import { cellOf, numbersOf, type Packing, regclassSql, wasReadSql } from './value-encoding.ts';

/** SQL: the day (UTC) of an instant. */
const dayOf = (instant: string) => `(${instant} at time zone 'UTC')::date`;

/**
 * SQL: for each entity and day, the number of readings, and the average of each numeric column to twelve
 * decimals. A closed day stores one sum per entity and column, so that a year of many members requires no
 * unpacking and no grouping. Only days that also have readings in another form are grouped.
 * @param names columns that identify an entity: those of the request, and all text columns
 */
export function dailyAveragesSql(packing: Packing, names: readonly DatasetColumn[]): string {
  const numbers = numbersOf(packing);
  const entityColumns = names.map(({ name }) => name).join(', ');
  const counted = (form: ReadingForm) => `
  select ${names.map(({ name }) => form.columns.get(name)).join(', ')}, ${dayOf(form.columns.get('observed_at') ?? '')} as day,
    ${numbers.map(({ column }) => `${form.columns.get(column.name)}::numeric as sum_${column.name}, (${form.columns.get(column.name)} is not null)::int as count_${column.name}`).join(', ')}
  from ${form.from}`;
  const closed = closedSums(packing, names);
  return `select ${entityColumns}, day, ${numbers
    .map(
      ({ column: { name } }) =>
        `count_${name}::bigint as ${name}_readings, round(sum_${name} / nullif(count_${name}, 0), 12) as ${name}_average`,
    )
    .join(', ')}
from (${closed} and d.day <> all(${daysElsewhere(packing)})
  union all
  select ${entityColumns}, day, ${numbers.map(({ column: { name } }) => `sum(sum_${name}), sum(count_${name})`).join(', ')}
  from (${closed} and d.day = any(${daysElsewhere(packing)})
    union all${counted(selectOpenDayReadings(packing))}
    union all${counted(selectRowReadings(packing))}
  ) several
  group by ${entityColumns}, day
) days`;
}

/**
 * SQL: for each entity and closed day, the sum of each numeric column (`sum_` and its name) and the count of
 * values (`count_` and its name).
 */
function closedSums(packing: Packing, names: readonly DatasetColumn[]): string {
  const numbers = numbersOf(packing);
  const cell = (at: number) => cellOf(numbers.length, at);
  const mode = (at: number) => `d.mode[${cellOf(packing.values.length, at)}]`;
  const closed = new Map([
    ...packing.request.map(({ name }, at): [string, string] => [name, `s.request[${at + 1}]`]),
    ...packing.texts.map(({ name }, at): [string, string] => [name, `m.texts[${at + 1}]`]),
  ]);
  return `
  select ${names.map(({ name }) => `${closed.get(name)} as ${name}`).join(', ')}, d.day,
    ${numbers.map(({ column, at }, index) => `d.sums[${cell(index + 1)}] * ${unitSql(mode(at))} as sum_${column.name}, d.value_counts[${cell(index + 1)}] as count_${column.name}`).join(', ')}
  from recorder.reading_days d
    join recorder.reading_scopes s on s.scope_id = d.scope_id
    join recorder.reading_members m on m.scope_id = d.scope_id and m.chunk = d.chunk
  where s.dataset = ${regclassSql(packing)} and ${wasReadSql(packing)}`;
}

/**
 * SQL: array of the days of any scope that have readings in another form than closed days. PostgreSQL
 * evaluates the array once per query. The table of the dataset may have many rows. So the query searches the
 * index for one day after the other.
 */
function daysElsewhere(packing: Packing): string {
  const nextDay = (where: string) =>
    `(select ${dayOf('observed_at')} from recorder.${packing.dataset.name}${where} order by observed_at limit 1)`;
  return `array(
    with recursive of_rows (day) as (
      select ${nextDay('')}
      union all
      select ${nextDay(` where observed_at >= ((of_rows.day + 1)::timestamp at time zone 'UTC')`)} from of_rows where of_rows.day is not null)
    select day from of_rows where day is not null
    union select ${dayOf('observed_at')} from recorder.reading_open where dataset = ${regclassSql(packing)})`;
}
