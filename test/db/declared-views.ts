import type postgres from 'postgres';
import type { Declared } from '../../src/db/declared.ts';

/** Declares a view for a test. */
export const declareView = (name: string, body: string): Declared => ({
  kind: 'view',
  name,
  comment: name,
  columns: [],
  body: `select ${body}`,
});
/** A function that returns the rows of a declared view. */
const theirsOf: Declared = {
  kind: 'function',
  name: 'theirs_of',
  comment: 'theirs',
  parameters: [],
  rowsOf: { name: 'theirs' },
  columns: [],
  body: 'select * from reporting.theirs',
};

/** The objects of the previous version. */
export const before = [
  declareView('base', '1 as a, 2 as b'),
  declareView('theirs', 'b from reporting.base'),
  theirsOf,
];
/** The objects of the next version: the first column is removed, which no `create or replace` can do. */
export const moved = [
  declareView('base', '2 as b'),
  declareView('theirs', 'b from reporting.base'),
  theirsOf,
];

/** Returns the definitions of everything that migrations and declarations create. */
export async function schemaTexts(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ object: string }[]>`
    select format('%s.%s %s', table_schema, table_name, table_type) as object from information_schema.tables
    where table_schema in ('recorder', 'reporting', 'reporting_lists', 'reporting_internal')
    union all
    select format('%s.%s.%s %s', table_schema, table_name, column_name, data_type) from information_schema.columns
    where table_schema in ('recorder', 'reporting', 'reporting_lists', 'reporting_internal')
    union all
    select indexdef from pg_indexes where schemaname = 'recorder'
    union all
    select pg_get_functiondef(oid) from pg_proc where pronamespace in ('reporting'::regnamespace, 'reporting_lists'::regnamespace, 'reporting_internal'::regnamespace)
    order by 1`;
  return rows.map(({ object }) => object);
}

/** Returns the columns of the declared views. */
export async function declaredColumns(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ column: string }[]>`
    select table_name || '.' || column_name as column from information_schema.columns
    where table_schema = 'reporting' and table_name in ('base', 'theirs') order by 1`;
  return rows.map(({ column }) => column);
}
