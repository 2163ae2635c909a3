import type { Dataset } from '../datasets/contract.ts';

/** A dataset whose upstream should say one thing of what {@link Dataset.single} identifies. */
export interface Telling extends Dataset {
  readonly single: readonly string[];
}

/** Whether rows of a dataset can contradict each other. */
export const canContradict = (dataset: Dataset): dataset is Telling => dataset.single !== undefined;

const of = (row: string, columns: readonly string[]) =>
  `(${columns.map((column) => `${row}.${column}`).join(', ')})`;

/** SQL: another row than `s` says something else of what the upstream should say one thing of. */
export function contradicted({ name, key, single }: Telling): string {
  const others = key.filter((part) => !single.includes(part));
  return `exists (select from recorder.${name} o
  where ${of('o', single)} = ${of('s', single)} and ${of('o', others)} <> ${of('s', others)} and o.superseded_at is null)`;
}

const noted = ({ name }: Dataset) =>
  `coalesce((select until from recorder.contradictions_noted where dataset = '${name}'), '-infinity')`;

/**
 * SQL: every thing of which rows contradict each other, and some more, so that not every row has to be compared: those that were
 * noted ({@link noting}), and those of rows that are younger. Its columns are those of `single`.
 */
export function perhapsContradicted(dataset: Telling): string {
  const { name, columns, single } = dataset;
  const typeOf = new Map(columns.map((column) => [column.name, column.type]));
  const things = single.map((column, at) => `thing[${at + 1}]::${typeOf.get(column)} as ${column}`);
  // With an end, PostgreSQL expects few rows, and asks the index of time.
  return `select ${things.join(', ')} from recorder.contradictions where dataset = '${name}'
  union
  select ${single.join(', ')} from recorder.${name}
  where recorded_at >= ${noted(dataset)} and recorded_at < 'infinity'`;
}

/**
 * The statement that notes the things of which rows contradict each other, of rows that nobody has compared yet. It can run at any
 * time, and twice: what it notes is compared again by whoever reads it.
 * $1: when rows were recorded up to which all are visible; it may be earlier than the time before.
 */
export function noting(dataset: Telling): string {
  const { name, single } = dataset;
  return `
    with found as (
      insert into recorder.contradictions (dataset, thing)
      select distinct '${name}', array[${single.map((column) => `s.${column}::text`).join(', ')}]
      from recorder.${name} s
      where s.recorded_at >= least(${noted(dataset)}, $1::timestamptz) and s.recorded_at < $1::timestamptz and ${contradicted(dataset)}
      on conflict do nothing returning 1)
    insert into recorder.contradictions_noted as n (dataset, until) select '${name}', $1::timestamptz
    where (select count(*) from found) >= 0
    on conflict (dataset) do update set until = excluded.until`;
}
