import type { PoolClient } from 'pg';

/**
 * Replaces the advisory locks of BullMQ's functions by row locks. Advisory locks are one namespace for all roles of a database, so that a
 * reader could stop every queue with a number that follows from the queue's name. The functions find those of their own schema first.
 *
 * - An exclusive lock is the insertion of a key that the same transaction deletes again: another insertion waits for its end, and no row stays.
 * - A shared lock, and one that is only tried, has a row that stays: their keys follow from the few names of queues.
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

/** The functions of BullMQ that take advisory locks and do not find those of their own schema first yet. */
const TAKERS = `
select p.oid::regprocedure::text as name from pg_proc p
where p.pronamespace = $1::regnamespace and p.prosrc ~ 'pg_(try_)?advisory' and not coalesce(p.proconfig @> array[$2], false)`;

/** Another process creates or alters the same at the same moment: unique_violation, duplicate_schema, _table and _function, a row updated concurrently. */
const CHANGED_MEANWHILE: ReadonlySet<unknown> = new Set(['23505', '42P06', '42P07', '42723', 'XX000']);
const ATTEMPTS = 10;

/** Creates the lock functions, before BullMQ's own migrations, which lock as well. Several processes may do so at once. */
export function createLockFunctions(client: PoolClient, schema: string): Promise<void> {
  return besideOthers(async () => {
    const last = `${schema}.pg_try_advisory_xact_lock(bigint)`;
    const { rows } = await client.query<{ found: string | null }>('select to_regprocedure($1) as found', [
      last,
    ]);
    if (!rows[0]?.found) await client.query(LOCK_FUNCTIONS(schema));
  });
}

/**
 * Lets BullMQ's functions use the lock functions. Repeated after each of its migrations, which replace its functions.
 * Several processes may do so at once.
 */
export function useLockFunctions(client: PoolClient, schema: string): Promise<void> {
  return besideOthers(async () => {
    const { rows } = await client.query<{ name: string }>(TAKERS, [schema, searchPath(schema)]);
    for (const { name } of rows)
      await client.query(`alter function ${name} set search_path = ${schema}, pg_catalog`);
  });
}

/** Repeats work that checks what is left to do, if another process changed the same at the same moment. */
async function besideOthers(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work();
      return;
    } catch (error) {
      const isChanged = error instanceof Error && 'code' in error && CHANGED_MEANWHILE.has(error.code);
      if (!isChanged || attempt === ATTEMPTS) throw error;
    }
  }
}

/** As PostgreSQL stores the setting of a function. */
const searchPath = (schema: string) => `search_path=${schema}, pg_catalog`;
