import type postgres from 'postgres';

/**
 * Checks that the database can hold any text. Only UTF-8 can; in SQL_ASCII a text is bytes that are not checked.
 * @returns what is wrong and how to mend it, for a person; null: it is UTF-8
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
