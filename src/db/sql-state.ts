import pg from 'pg';
import postgres from 'postgres';

/** The code with which PostgreSQL refused a statement (SQLSTATE), whichever driver asked; null: the error is none of PostgreSQL's. */
export const sqlStateOf = (error: unknown): string | null =>
  error instanceof postgres.PostgresError || error instanceof pg.DatabaseError ? (error.code ?? null) : null;
