import { getTableName } from 'drizzle-orm';
import { getTableConfig, PgDialect, type PgTable } from 'drizzle-orm/pg-core';
import { PostgresJsDatabase, PostgresJsSession } from 'drizzle-orm/postgres-js';
import type postgres from 'postgres';

const dialect = new PgDialect();

class OwnSession extends PostgresJsSession<postgres.Sql, Record<string, never>, Record<string, never>> {}

/**
 * Drizzle's session with the original errors of the driver. Drizzle's own errors repeat the statement and its
 * parameters, and hide the SQLSTATE.
 */
class Session extends OwnSession {
  override prepareQuery(...[query, fields, name, ...others]: Parameters<OwnSession['prepareQuery']>) {
    // Each connection parses and plans a statement once, like the statements of postgres.js itself.
    return Object.assign(super.prepareQuery(query, fields, name ?? '', ...others), {
      queryWithCache: <T>(_text: string, _params: unknown[], run: () => Promise<T>) => run(),
    });
  }
}

/** Drizzle's client for the recorder's tables in a database. */
export type Orm = PostgresJsDatabase<Record<string, never>>;

const opened = new WeakMap<postgres.Sql, Orm>();

/**
 * Returns Drizzle's client for the connections of a client of postgres.js. `drizzle()` itself would change
 * how the client parses times.
 */
export function ormOf(sql: postgres.Sql): Orm {
  const before = opened.get(sql);
  if (before) return before;
  const orm: Orm = new PostgresJsDatabase(dialect, new Session(sql, dialect, undefined), undefined);
  opened.set(sql, orm);
  return orm;
}

/** Returns the quoted name of a table, for statements that are generated as text. */
export function tableText(table: PgTable): string {
  const { schema } = getTableConfig(table);
  const name = dialect.escapeName(getTableName(table));
  return schema === undefined ? name : `${dialect.escapeName(schema)}.${name}`;
}
