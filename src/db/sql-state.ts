import pg from 'pg';
import postgres from 'postgres';

/** Returns the SQLSTATE of an error from either driver; null if it is not an error of PostgreSQL. */
export const sqlStateOf = (error: unknown): string | null =>
  error instanceof postgres.PostgresError || error instanceof pg.DatabaseError ? (error.code ?? null) : null;
