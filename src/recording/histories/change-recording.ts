import type { Dataset, DatasetColumn } from '../../datasets/contract.ts';
import { itemColumns } from './batch.ts';

/**
 * SQL: condition that two rows of the same key contradict each other: a field has different values in both,
 * neither of them null. Fields that `moves()` marks, and unknown fields, are not compared. The condition is
 * true or false, never null.
 * @param left alias of one row
 * @param right alias of the other row
 */
export function contradictsSql(dataset: Dataset, left: string, right: string): string {
  const differing = comparedColumns(dataset).map(
    (column) => `${comparedValueSql(column, left)} <> ${comparedValueSql(column, right)}`,
  );
  return differing.length === 0 ? 'false' : `((${differing.join(' or ')}) is true)`;
}

/** SQL: condition that a field has a value in `left` and is null in `right`. */
export function addsValueSql(dataset: Dataset, left: string, right: string): string {
  const more = comparedColumns(dataset)
    .filter(({ nullable }) => nullable)
    .map(({ name }) => `(${left}.${name} is not null and ${right}.${name} is null)`);
  return more.length === 0 ? 'false' : `(${more.join(' or ')})`;
}

/** Returns the columns by which two rows of the same key are compared. */
export function comparedColumns(dataset: Dataset): readonly DatasetColumn[] {
  return itemColumns(dataset).filter(({ name, moves }) => !moves && !dataset.key.includes(name));
}

/** SQL: the value of a column, without the fields of list elements that `moves()` marks. */
export function comparedValueSql({ name, elementMoves = [] }: DatasetColumn, alias: string): string {
  const value = `${alias}.${name}`;
  if (elementMoves.length === 0) return value;
  const without = elementMoves.map(({ path, fields }, index) => {
    const from = index === 0 ? 'e.value' : `s${index - 1}.value`;
    const at = `${from} #> '{${path.join(',')}}'`;
    const less = `(${at}) - array[${fields.map((field) => `'${field}'`).join(', ')}]`;
    const whole = path.length === 0 ? less : `jsonb_set(${from}, '{${path.join(',')}}', ${less})`;
    // An element may have any structure, independently of the schema.
    return `lateral (select case jsonb_typeof(${at}) when 'object' then ${whole} else ${from} end as value) s${index}`;
  });
  return `case when ${value} is not null then coalesce((
    select jsonb_agg(s${elementMoves.length - 1}.value order by e.position)
    from jsonb_array_elements(case jsonb_typeof(${value}) when 'array' then ${value} end) with ordinality as e(value, position),
      ${without.join(', ')}), '[]') end`;
}
