import postgres from 'postgres';

const templateName = 'recorder_template';

/** Makes the database that tests clone, and has `migrate` fill it. */
export async function buildTemplate(
  admin: string,
  migrate: (url: string) => Promise<unknown>,
): Promise<void> {
  await administer(admin, (sql) => sql`create database ${sql(templateName)}`);
  await migrate(databaseUrl(admin, templateName));
}

/**
 * Clones a database, the template where none is named, and returns the clone's URL. Copying its files takes a tenth of the
 * processor time of copying its pages through the write-ahead log.
 */
export async function cloneTemplate(admin: string, name: string, from = templateName): Promise<string> {
  await administer(
    admin,
    (sql) => sql`create database ${sql(name)} template ${sql(from)} strategy file_copy`,
  );
  return databaseUrl(admin, name);
}

/** Makes an empty database and returns its URL. */
export async function createDatabase(admin: string, name: string): Promise<string> {
  await administer(admin, (sql) => sql`create database ${sql(name)}`);
  return databaseUrl(admin, name);
}

/** Drops a database, whoever is still connected. */
export async function dropDatabase(admin: string, name: string): Promise<void> {
  await administer(admin, (sql) => sql`drop database ${sql(name)} with (force)`);
}

async function administer(
  url: string,
  statement: (sql: postgres.Sql) => PromiseLike<unknown>,
): Promise<void> {
  const sql = postgres(url, { max: 1 });
  try {
    await statement(sql);
  } finally {
    await sql.end();
  }
}

/** Returns the URL of a database of the same server. */
export function databaseUrl(admin: string, name: string): string {
  const url = new URL(admin);
  url.pathname = name;
  return url.href;
}
