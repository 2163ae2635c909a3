import type postgres from 'postgres';

/**
 * Checks that the database can store any text. Only a UTF-8 database can; SQL_ASCII stores bytes without a
 * check of their encoding.
 * @returns the problem and its fix, or null if the encoding is UTF-8
 */
export async function encodingProblem(sql: postgres.Sql): Promise<string | null> {
  const [row] = await sql<{ name: string; encoding: string }[]>`
    select current_database() as name, current_setting('server_encoding') as encoding`;
  if (!row || row.encoding === 'UTF8') return null;
  return (
    `the database "${row.name}" is encoded in ${row.encoding}, and chain-recorder needs UTF-8: create another database ` +
    'with "createdb --template=template0 --encoding=UTF8 --locale=C.UTF-8 NAME" and name it in DATABASE_URL'
  );
}
