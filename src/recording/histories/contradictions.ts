import type { Dataset } from '../../datasets/contract.ts';
import { tableText } from '../../db/orm.ts';
import { targetDatasets, targets } from '../../db/schema/bookkeeping.ts';
import { contradicts } from './change-recording.ts';

/** What rows of a dataset can say differently, though it is one thing. */
export interface Telling {
  readonly dataset: Dataset;
  /** The columns that identify the thing. */
  readonly thing: readonly string[];
  /** SQL: the row `o` says otherwise than the row `s`, which is of the same thing. */
  readonly otherwise: string;
}

const of = (row: string, columns: readonly string[]) =>
  `(${columns.map((column) => `${row}.${column}`).join(', ')})`;

/** A log whose upstream should say one thing of what {@link Dataset.single} identifies; null: of this one it may say several. */
export function toldOnce(dataset: Dataset): Telling | null {
  const { key, single } = dataset;
  if (single === undefined) return null;
  const others = key.filter((part) => !single.includes(part));
  return { dataset, thing: single, otherwise: `${of('o', others)} <> ${of('s', others)}` };
}

/** A log of which every node should say the same; null: it is none. A field that a node leaves out contradicts nothing. */
export function toldByNodes(dataset: Dataset): Telling | null {
  const { name, key, history, everyNode } = dataset;
  if (history !== 'log' || !everyNode) return null;
  // The nodes are named, because the index begins with the node.
  const nodes = `select array_agg(distinct t.target ->> 'node') from ${tableText(targetDatasets)} d
  join ${tableText(targets)} t using (source, target_key) where d.dataset = '${name}'`;
  return {
    dataset,
    thing: key.filter((part) => part !== 'node'),
    otherwise: `o.node <> s.node and o.node = any ((${nodes})::text[]) and ${contradicts(dataset, 'o', 's')}`,
  };
}

/** SQL: another row than `s` says something else of the same thing. */
export const contradicted = ({ dataset: { name }, thing, otherwise }: Telling): string =>
  `exists (select from recorder.${name} o
  where ${of('o', thing)} = ${of('s', thing)} and ${otherwise} and o.superseded_at is null)`;

const noted = ({ name }: Dataset) =>
  `coalesce((select until from recorder.contradictions_noted where dataset = '${name}'), '-infinity')`;

/**
 * SQL: every thing of which rows contradict each other, and perhaps some more, so that not every row has to be compared: those that
 * were noted ({@link noting}), and those of rows that are younger. Its columns are those of `thing`.
 */
export function perhapsContradicted(telling: Telling): string {
  const { name, columns } = telling.dataset;
  const typeOf = new Map(columns.map((column) => [column.name, column.type]));
  const things = telling.thing.map((column, at) => `thing[${at + 1}]::${typeOf.get(column)} as ${column}`);
  // With an end, PostgreSQL expects few rows, and asks the index of time.
  return `select ${things.join(', ')} from recorder.contradictions where dataset = '${name}'
  union
  select ${telling.thing.map((column) => `s.${column}`).join(', ')} from recorder.${name} s
  where s.recorded_at >= ${noted(telling.dataset)} and s.recorded_at < 'infinity' and ${contradicted(telling)}`;
}

/**
 * The statement that notes the things of which rows contradict each other, of rows that nobody has compared yet. It can run at any
 * time, and twice: what it notes is compared again by whoever reads it.
 * $1: when rows were recorded up to which all are visible; it may be earlier than the time before.
 */
export function noting(telling: Telling): string {
  const { dataset, thing } = telling;
  const { name } = dataset;
  return `
    with found as (
      insert into recorder.contradictions (dataset, thing)
      select distinct '${name}', array[${thing.map((column) => `s.${column}::text`).join(', ')}]
      from recorder.${name} s
      where s.recorded_at >= least(${noted(dataset)}, $1::timestamptz) and s.recorded_at < $1::timestamptz and ${contradicted(telling)}
      on conflict do nothing returning 1)
    insert into recorder.contradictions_noted as n (dataset, until) select '${name}', $1::timestamptz
    where (select count(*) from found) >= 0
    on conflict (dataset) do update set until = excluded.until`;
}
