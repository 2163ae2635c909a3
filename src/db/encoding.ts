import type postgres from 'postgres';

/**
 * Whether the database can hold what upstreams say: any text, which only UTF-8 can, and in SQL_ASCII it would be bytes
 * that nobody checks.
 * @returns what is wrong and how to mend it, for a person; null: nothing
 */
export async function encodingProblem(sql: postgres.Sql): Promise<string | null> {
  const [row] = await sql<{ name: string; encoding: string }[]>`
    select current_database() as name, current_setting('server_encoding') as encoding`;
  if (!row || row.encoding === 'UTF8') return null;
  return (
    `the database "${row.name}" is encoded in ${row.encoding}, and chain-recorder needs UTF-8: make another one ` +
    'with "createdb --template=template0 --encoding=UTF8 --locale=C.UTF-8 NAME" and name it in DATABASE_URL'
  );
}
