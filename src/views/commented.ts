import type { Derived } from '../db/derive.ts';

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** A view with a COMMENT of its own and one for each column. */
export function view(
  name: string,
  about: string,
  select: string,
  columns: Readonly<Record<string, string>>,
): Derived {
  return {
    name,
    kind: 'view',
    create: [
      `create or replace view reporting.${name} as ${select}`,
      `comment on view reporting.${name} is ${quoted(about)}`,
      ...Object.entries(columns).map(
        ([column, text]) => `comment on column reporting.${name}.${column} is ${quoted(text)}`,
      ),
    ].join(';\n'),
  };
}

/**
 * A function in SQL that returns a table.
 * @param parameters such as `"from" timestamptz`; @param result its columns with their types
 */
export function tableFunction(
  name: string,
  about: string,
  parameters: readonly string[],
  result: Readonly<Record<string, string>>,
  select: string,
): Derived {
  const types = parameters.map((parameter) =>
    parameter
      .split(' ')
      .slice(1)
      .join(' ')
      .replace(/ default .*/, ''),
  );
  const columns = Object.entries(result).map(([column, type]) => `${column} ${type}`);
  return {
    name,
    kind: 'function',
    create: `create or replace function reporting.${name}(${parameters.join(', ')})
      returns table (${columns.join(', ')}) language sql stable parallel safe as ${quoted(select)};
      comment on function reporting.${name}(${types.join(', ')}) is ${quoted(about)}`,
  };
}
