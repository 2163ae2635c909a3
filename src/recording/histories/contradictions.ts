import type { Dataset } from '../../datasets/contract.ts';
import { tableText } from '../../db/orm.ts';
import { targetDatasets, targets } from '../../db/schema/bookkeeping.ts';
import { contradictsSql } from './change-recording.ts';

/** Rule by which rows of a dataset about the same entity contradict each other. */
export interface ContradictionRule {
  readonly dataset: Dataset;
  /** Columns that identify the entity. */
  readonly entityKey: readonly string[];
  /** SQL: condition that the row `o` contradicts the row `s` of the same entity. */
  readonly otherwise: string;
}

const of = (row: string, columns: readonly string[]) =>
  `(${columns.map((column) => `${row}.${column}`).join(', ')})`;

/**
 * Returns the rule for a log whose upstream should report one row per entity that {@link Dataset.single}
 * identifies. Returns null if several rows are allowed.
 */
export function singleRowRule(dataset: Dataset): ContradictionRule | null {
  const { key, single } = dataset;
  if (single === undefined) return null;
  const others = key.filter((part) => !single.includes(part));
  return { dataset, entityKey: single, otherwise: `${of('o', others)} <> ${of('s', others)}` };
}

/**
 * Returns the rule for a log that should be the same on every node. Returns null if the dataset is not such a
 * log. A field that a node omits contradicts nothing.
 */
export function everyNodeRule(dataset: Dataset): ContradictionRule | null {
  const { name, key, history, everyNode } = dataset;
  if (history !== 'log' || !everyNode) return null;
  // The condition lists the nodes, because the first column of the index is the node.
  const nodes = `select array_agg(distinct t.target ->> 'node') from ${tableText(targetDatasets)} d
  join ${tableText(targets)} t using (source, target_key) where d.dataset = '${name}'`;
  return {
    dataset,
    entityKey: key.filter((part) => part !== 'node'),
    otherwise: `o.node <> s.node and o.node = any ((${nodes})::text[]) and ${contradictsSql(dataset, 'o', 's')}`,
  };
}

/** SQL: condition that another current row contradicts the row `s` about the same entity. */
export const contradictedSql = ({ dataset: { name }, entityKey, otherwise }: ContradictionRule): string =>
  `exists (select from recorder.${name} o
  where ${of('o', entityKey)} = ${of('s', entityKey)} and ${otherwise} and o.valid_to is null)`;

const comparedUntilSql = ({ name }: Dataset) =>
  `coalesce((select until from recorder.contradictions_noted where dataset = '${name}'), '-infinity')`;

/**
 * SQL: the entities whose rows contradict each other, and possibly other entities. The query selects the
 * stored entities ({@link storeContradictionsSql}) and compares only rows that were recorded after the last
 * comparison. The columns are those of `entityKey`.
 */
export function possibleContradictionsSql(rule: ContradictionRule): string {
  const { name, columns } = rule.dataset;
  const typeOf = new Map(columns.map((column) => [column.name, column.type]));
  const identityColumns = rule.entityKey.map(
    (column, at) => `entity[${at + 1}]::${typeOf.get(column)} as ${column}`,
  );
  // With an upper bound, PostgreSQL estimates few rows and uses the index on the time.
  return `select ${identityColumns.join(', ')} from recorder.contradictions where dataset = '${name}'
  union
  select ${rule.entityKey.map((column) => `s.${column}`).join(', ')} from recorder.${name} s
  where s.valid_from >= ${comparedUntilSql(rule.dataset)} and s.valid_from < 'infinity' and ${contradictedSql(rule)}`;
}

/**
 * Returns the statement that stores contradicted entities of rows that were not compared yet. The statement
 * can run repeatedly, because readers compare the stored entities again. $1: recording time up to which all
 * rows are visible. This time may be earlier than in the previous execution.
 */
export function storeContradictionsSql(rule: ContradictionRule): string {
  const { dataset, entityKey } = rule;
  const { name } = dataset;
  return `
    with found as (
      insert into recorder.contradictions (dataset, entity)
      select distinct '${name}', array[${entityKey.map((column) => `s.${column}::text`).join(', ')}]
      from recorder.${name} s
      where s.valid_from >= least(${comparedUntilSql(dataset)}, $1::timestamptz) and s.valid_from < $1::timestamptz and ${contradictedSql(rule)}
      on conflict do nothing returning 1)
    insert into recorder.contradictions_noted as n (dataset, until) select '${name}', $1::timestamptz
    where (select count(*) from found) >= 0
    on conflict (dataset) do update set until = excluded.until`;
}
