import { type CheckName, checkRules } from './rules.ts';

/** The columns that a check returns, in order. `agrees` is null if the sides cannot be compared. */
export const COMPARED_COLUMNS =
  'check_name, dataset, subject, at, left_source, left_value, right_source, right_value, agrees';

/** SQL of the chain in the column `subject` of discrepancies; null if the subject has no chain. */
export const SUBJECT_CHAIN = `substring(subject from '^chain_id=([^ ]*)')`;

/**
 * The condition that ends a discrepancy.
 * - `settled`: the two sides of the discrepancy agree, or are no longer compared. The statement compares the
 *   chain $1 only.
 * - `current`: the discrepancy is no longer found. Until then, the discrepancy keeps the time `at` of its
 *   first row.
 * - `lasting`: the discrepancy never ends, because it concerns the past.
 */
export type Ending = 'settled' | 'current' | 'lasting';

/**
 * Builds the statement that stores the result of a comparison. The statement is idempotent.
 * @param ctes the CTEs of the query, each `name as (…)`
 * @param compared the query, with the columns of {@link COMPARED_COLUMNS}
 * @param found the parameter with the time of the check, such as `$1`
 * @param names names of the checks in the query
 * @returns a statement that returns one row: `found`, the current number of discrepancies, and `touched`, the
 * number of changed rows
 */
export function discrepancySql(
  ctes: readonly string[],
  compared: string,
  found: string,
  ending: Ending,
  names: readonly CheckName[],
): string {
  const key = (row: string) => `(${row}.check_name, ${row}.subject, ${row}.at)`;
  const list = `'${names.join("', '")}'`;
  const tolerances = names.map((name) => `when '${name}' then '${checkRules[name].tolerance}'`).join(' ');
  const ended = {
    settled: `ended as (
      update recorder.discrepancies d set ended_at = ${found}
      where d.ended_at is null and d.check_name in (${list}) and ${SUBJECT_CHAIN} = $1
        and not exists (select from compared c where ${key('c')} = ${key('d')} and c.agrees is not true) returning 1)`,
    current: `ended as (
      update recorder.discrepancies d set ended_at = ${found}
      where d.ended_at is null and d.check_name in (${list})
        and not exists (select from differing f where (f.check_name, f.subject) = (d.check_name, d.subject)) returning 1)`,
    lasting: 'ended as (select 1)',
  }[ending];
  const since =
    ending === 'current'
      ? `coalesce((select min(d.at) from recorder.discrepancies d
          where d.ended_at is null and (d.check_name, d.subject) = (c.check_name, c.subject)), c.at)`
      : 'c.at';
  return `with ${[
    ...ctes,
    `compared (${COMPARED_COLUMNS}) as materialized (${compared})`,
    `differing as materialized (
      select distinct on (check_name, subject, at) * from (
        select c.check_name, c.dataset, c.subject, ${since} as at, c.left_source, c.left_value, c.right_source, c.right_value
        from compared c where not c.agrees) c
      order by check_name, subject, at)`,
    ended,
    `written as (
      insert into recorder.discrepancies as d (check_name, dataset, subject, at, left_source, left_value, right_source,
        right_value, tolerance, found_at)
      select check_name, dataset, subject, at, left_source, left_value, right_source, right_value,
        case check_name ${tolerances} end, ${found}
      from differing
      on conflict (check_name, subject, at) do update set left_source = excluded.left_source,
        left_value = excluded.left_value, right_source = excluded.right_source, right_value = excluded.right_value,
        tolerance = excluded.tolerance, ended_at = null
      where (d.left_source, d.left_value, d.right_source, d.right_value, d.tolerance) is distinct from
        (excluded.left_source, excluded.left_value, excluded.right_source, excluded.right_value, excluded.tolerance)
        or d.ended_at is not null
      returning 1)`,
  ].join(', ')}
  select (select count(*) from differing)::int as found, (select count(*) from written) + (select count(*) from ended) as touched`;
}
