import type { DatasetColumn } from '../../datasets/contract.ts';
import { asOpenLooks, asRows, type ReadingForm } from './forms.ts';
import { cellOf, numbersOf, type Packing, tableOf, wasRead } from './packing.ts';
import { unitOf } from './strip.ts';

/** SQL: the day (UTC) of an instant. */
const dayOf = (instant: string) => `(${instant} at time zone 'UTC')::date`;

/**
 * SQL: for each thing that was read and each day, the number of readings, and of each column of numbers the average to twelve
 * decimals. Closed days have their sums, so that a year of many members is not unpacked.
 * @param names the columns that tell things apart
 */
export function dailyOf(packing: Packing, names: readonly DatasetColumn[]): string {
  const numbers = numbersOf(packing);
  const things = names.map(({ name }) => name).join(', ');
  const counted = (form: ReadingForm) => `
  select ${names.map(({ name }) => form.columns.get(name)).join(', ')}, ${dayOf(form.columns.get('observed_at') ?? '')} as day,
    ${numbers.map(({ column }) => `${form.columns.get(column.name)}::numeric as sum_${column.name}, (${form.columns.get(column.name)} is not null)::int as told_${column.name}`).join(', ')}
  from ${form.from}`;
  const cell = (at: number) => cellOf(numbers.length, at);
  const mode = (at: number) => `d.mode[${cellOf(packing.values.length, at)}]`;
  const closed = new Map([
    ...packing.request.map(({ name }, at): [string, string] => [name, `s.request[${at + 1}]`]),
    ...packing.words.map(({ name }, at): [string, string] => [name, `m.words[${at + 1}]`]),
  ]);
  return `select ${things}, day, ${numbers
    .map(
      ({ column: { name } }) =>
        `sum(told_${name})::bigint as ${name}_readings, round(sum(sum_${name}) / nullif(sum(told_${name}), 0), 12) as ${name}_average`,
    )
    .join(', ')}
from (
  select ${names.map(({ name }) => `${closed.get(name)} as ${name}`).join(', ')}, d.day,
    ${numbers.map(({ column, at }, place) => `d.sums[${cell(place + 1)}] * ${unitOf(mode(at))} as sum_${column.name}, d.told[${cell(place + 1)}] as told_${column.name}`).join(', ')}
  from recorder.reading_days d
    join recorder.reading_scopes s on s.scope_id = d.scope_id
    join recorder.reading_members m on m.scope_id = d.scope_id and m.chunk = d.chunk
  where s.dataset = ${tableOf(packing)} and ${wasRead(packing)}
  union all${counted(asOpenLooks(packing))}
  union all${counted(asRows(packing))}
) days
group by ${things}, day`;
}
