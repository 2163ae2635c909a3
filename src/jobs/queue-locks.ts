import type { PoolClient } from 'pg';

/**
 * Replaces the advisory locks in the functions of BullMQ by row locks. Advisory locks share one namespace
 * between all roles of a database, so that a read-only role could block every queue with a number that is
 * derived from its name. The search path of the functions finds the lock functions of their own schema first.
 * - An exclusive lock inserts a key and deletes it in the same transaction. Another insert of the key waits
 * for its end, and no row remains.
 * - A shared lock, and a `try` lock, has a permanent row, because their keys are derived from the few names
 * of queues.
 */
const LOCK_FUNCTIONS = (schema: string) => `
create schema if not exists ${schema};
create table if not exists ${schema}.lock_exclusive (key bigint primary key);
create table if not exists ${schema}.lock_shared (key bigint primary key);
create or replace function ${schema}.pg_advisory_xact_lock(key bigint) returns void language plpgsql set search_path = pg_catalog as $$
begin
  insert into ${schema}.lock_exclusive as l values ($1);
  delete from ${schema}.lock_exclusive as l where l.key = $1;
end $$;
create or replace function ${schema}.lock_row(key bigint) returns void language sql set search_path = pg_catalog as $$
  insert into ${schema}.lock_shared values ($1) on conflict do nothing
$$;
create or replace function ${schema}.pg_advisory_xact_lock(one int, two int) returns void language plpgsql set search_path = pg_catalog as $$
begin
  perform ${schema}.lock_row((one::bigint << 32) | (two::bigint & 4294967295));
  perform from ${schema}.lock_shared l where l.key = (one::bigint << 32) | (two::bigint & 4294967295) for update;
end $$;
create or replace function ${schema}.pg_advisory_xact_lock_shared(one int, two int) returns void language plpgsql set search_path = pg_catalog as $$
begin
  perform ${schema}.lock_row((one::bigint << 32) | (two::bigint & 4294967295));
  perform from ${schema}.lock_shared l where l.key = (one::bigint << 32) | (two::bigint & 4294967295) for key share;
end $$;
create or replace function ${schema}.pg_try_advisory_xact_lock(key bigint) returns boolean language plpgsql set search_path = pg_catalog as $$
begin
  perform ${schema}.lock_row(key);
  perform from ${schema}.lock_shared l where l.key = $1 for update skip locked;
  return found;
end $$`;

/** SQL: functions of BullMQ that use advisory locks and do not have the search path yet. */
const ADVISORY_LOCK_USERS = `
select p.oid::regprocedure::text as name from pg_proc p
where p.pronamespace = $1::regnamespace and p.prosrc ~ 'pg_(try_)?advisory' and not coalesce(p.proconfig @> array[$2], false)`;

/**
 * SQLSTATEs of concurrent creation or changes by another process: unique_violation, duplicate_schema, _table
 * and _function, and a concurrently updated row.
 */
const CONCURRENT_CHANGE_CODES: ReadonlySet<unknown> = new Set(['23505', '42P06', '42P07', '42723', 'XX000']);
const MAX_ATTEMPTS = 10;

/**
 * Creates the lock functions. Must run before the migrations of BullMQ, which use locks, too. Several
 * processes may run it concurrently.
 */
export function createLockFunctions(client: PoolClient, schema: string): Promise<void> {
  return retryConcurrentChange(async () => {
    const last = `${schema}.pg_try_advisory_xact_lock(bigint)`;
    const { rows } = await client.query<{ found: string | null }>('select to_regprocedure($1) as found', [
      last,
    ]);
    if (!rows[0]?.found) await client.query(LOCK_FUNCTIONS(schema));
  });
}

/**
 * Makes the functions of BullMQ use the lock functions. Must run after each migration of BullMQ, which
 * replaces its functions. Several processes may run it concurrently.
 */
export function useLockFunctions(client: PoolClient, schema: string): Promise<void> {
  return retryConcurrentChange(async () => {
    const { rows } = await client.query<{ name: string }>(ADVISORY_LOCK_USERS, [schema, searchPath(schema)]);
    for (const { name } of rows)
      await client.query(`alter function ${name} set search_path = ${schema}, pg_catalog`);
  });
}

/** Retries idempotent work if another process changed the same objects concurrently. */
async function retryConcurrentChange(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work();
      return;
    } catch (error) {
      const isChanged = error instanceof Error && 'code' in error && CONCURRENT_CHANGE_CODES.has(error.code);
      if (!isChanged || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Returns the setting as PostgreSQL stores it with a function. */
const searchPath = (schema: string) => `search_path=${schema}, pg_catalog`;
