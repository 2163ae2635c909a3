import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import postgres from 'postgres';

const bareName = 'recorder_bare';
const templateName = 'recorder_template';
const recordedName = 'recorder_recorded';

/** Rows of the schema `recorder`: `pg_dump --data-only --column-inserts` without psql's commands and settings. */
const ROWS = new URL('../reporting/relations/recorded.sql.gz', import.meta.url);

/**
 * Creates the databases that tests clone: one with the tables alone, and the template with everything.
 * @param migrateTables migrates a database without the declared objects
 * @param migrate migrates a database
 */
export async function buildTemplates(
  admin: string,
  migrateTables: (url: string) => Promise<unknown>,
  migrate: (url: string) => Promise<unknown>,
): Promise<void> {
  await migrateTables(await createDatabase(admin, bareName));
  await migrate(await cloneTemplate(admin, templateName, bareName));
}

/** Clones the database that has the tables, and no view or function of `reporting`, and returns its URL. */
export const cloneBareTemplate = (admin: string, name: string) => cloneTemplate(admin, name, bareName);

/**
 * Clones a database, by default the template, and returns the clone's URL. Copying its files takes a tenth of the
 * processor time of copying its pages through the write-ahead log.
 */
export async function cloneTemplate(admin: string, name: string, from = templateName): Promise<string> {
  await administer(
    admin,
    (sql) => sql`create database ${sql(name)} template ${sql(from)} strategy file_copy`,
  );
  return databaseUrl(admin, name);
}

/**
 * Returns the name of a template that was recorded from the sandbox: members that changed, left and returned, revised
 * points, failures and gaps. The first caller of a test run creates it.
 */
export async function recordedTemplate(admin: string): Promise<string> {
  await administer(admin, async (sql) => {
    await sql`select pg_advisory_lock(hashtext(${recordedName}))`;
    if ((await sql`select from pg_database where datname = ${recordedName}`).length > 0) return;
    await sql`create database ${sql(recordedName)} template ${sql(templateName)} strategy file_copy`;
    await administer(databaseUrl(admin, recordedName), async (recorded) => {
      await recorded.unsafe(gunzipSync(readFileSync(ROWS)).toString());
      // The dump has no rights in it.
      await recorded`grant usage on schema reporting, reporting_lists, reporting_internal to recorder_reader`;
      await recorded`grant select on all tables in schema reporting, reporting_lists, reporting_internal to recorder_reader`;
      await recorded`grant execute on all functions in schema reporting, reporting_lists, reporting_internal to recorder_reader`;
    });
  });
  return recordedName;
}

/** Makes an empty database and returns its URL. */
export async function createDatabase(admin: string, name: string): Promise<string> {
  await administer(admin, (sql) => sql`create database ${sql(name)}`);
  return databaseUrl(admin, name);
}

/** Drops a database, despite open connections. */
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
