import { setTimeout as delay } from 'node:timers/promises';
import type postgres from 'postgres';
import type { CheckResult } from '../lib/check-result.ts';
import { UsageError } from '../lib/errors.ts';
import { CONNECTION_OPTIONS } from './client.ts';
import { connect } from './connect.ts';
import { isDatabaseUnavailable } from './connection-error.ts';
import { explainDatabaseError, NO_ANSWER } from './database-causes.ts';
import { POOLER_REASON, poolerFix } from './detect-pooler.ts';
import { encodingProblem } from './encoding.ts';
import { sessionSettings, silenceOf } from './session.ts';

/** Minimum version of PostgreSQL, as `server_version_num`. */
const MIN_SERVER_VERSION = 150_000;
/** Timeout of the connection, in s. */
const CONNECT_TIMEOUT_SECONDS = 5;

/** Timeout of the checks, in ms. A stalled server would delay a statement for longer. */
const CHECK_TIMEOUT_MS = 10_000;
/** Session settings of the recorder. */
const SETTINGS = sessionSettings('work');

/**
 * Checks a user's own database: whether the recorder can connect and write, and whether version and encoding
 * are supported.
 */
export async function checkDatabase(url: string): Promise<CheckResult> {
  const sql = connect(url, silenceOf('work'), {
    max: 1,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    onnotice: () => {},
    connection: SETTINGS,
  });
  const impatience = new AbortController();
  const late = delay(CHECK_TIMEOUT_MS, undefined, { signal: impatience.signal }).then(() => {
    throw Object.assign(new Error('no answer'), { code: NO_ANSWER });
  });
  try {
    const problem = await Promise.race([problemOf(sql), late]);
    if (problem) return problem;
    const [row] = await sql<{ version: string; size: string }[]>`
      select current_setting('server_version') as version, pg_size_pretty(pg_database_size(current_database())) as size`;
    const found = [`PostgreSQL ${row?.version}, ${row?.size}`, ...(await otherTimeZones(sql, url))].join(
      '; ',
    );
    return { check: 'database', ok: true, found };
  } catch (error) {
    return { check: 'database', ok: false, ...explainDatabaseError(error, url, 'DATABASE_URL') };
  } finally {
    impatience.abort();
    late.catch(() => {});
    await sql.end({ timeout: 1 });
  }
}

/** Returns a message for each setting that gives sessions of this database a time zone other than UTC. */
async function otherTimeZones(sql: postgres.Sql, url: string): Promise<string[]> {
  const rows = await sql<{ role: string | null; zone: string }[]>`
    select r.rolname as role, split_part(c.setting, '=', 2) as zone
    from pg_db_role_setting s
    cross join lateral unnest(s.setconfig) as c(setting)
    left join pg_roles r on r.oid = s.setrole
    where s.setdatabase in (0, (select oid from pg_database where datname = current_database()))
      and c.setting ilike 'timezone=%' and c.setting !~* '=(utc|etc/utc|gmt|zulu)$'
    order by 1 nulls first`;
  const owners = rows.map(({ role, zone }): [string, string] => [
    role === null ? 'this database' : `the role ${role}`,
    zone,
  ]);
  const unset = await unsetTimeZone(url);
  if (unset !== null) owners.push(['this server', unset]);
  return owners.map(
    ([owner, zone]) =>
      `sessions of ${owner} have the time zone ${zone}: dates in their queries are not days of UTC`,
  );
}

/**
 * Returns the time zone of a session if the server sets a time zone other than UTC. Returns null if that time
 * zone is UTC, or if the database or the role sets the time zone.
 */
async function unsetTimeZone(url: string): Promise<string | null> {
  const { TimeZone: _, ...settings } = SETTINGS;
  const sql = connect(url, silenceOf('work'), { ...CONNECTION_OPTIONS, max: 1, connection: settings });
  try {
    const [row] = await sql<{ zone: string }[]>`
      select setting as zone from pg_settings where name = 'TimeZone'
        and source not in ('database', 'user', 'database user') and setting !~* '^(utc|etc/utc|gmt|zulu)$'`;
    return row?.zone ?? null;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/**
 * Runs `begin` with the database of `DATABASE_URL`. If that fails, checks the database for the cause.
 * @throws UsageError with the problem of the database and its fix, and other errors of `begin`
 */
export async function withDatabaseDiagnosis<Begun>(url: string, begin: () => Promise<Begun>): Promise<Begun> {
  try {
    return await begin();
  } catch (error) {
    if (error instanceof UsageError || isDatabaseUnavailable(error)) throw error;
    const { ok, found, fix } = await checkDatabase(url);
    throw ok ? error : new UsageError([`DATABASE_URL: ${found}: ${fix}`], { cause: error });
  }
}

async function problemOf(sql: postgres.Sql): Promise<CheckResult | null> {
  const [row] = await sql<Rights[]>`
    select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
      pg_is_in_recovery() as standby, current_user as user, (select setting from pg_settings where name = 'statement_timeout') as timeout, current_database() as database,
      to_regnamespace('recorder') is null as empty,
      (select pg_get_userbyid(nspowner) from pg_namespace where nspname = 'recorder' and not pg_has_role(nspowner, 'usage')) as owner,
      has_database_privilege(current_database(), 'create') as may_create,
      exists (select from pg_roles where rolname = 'recorder_reader')
        or (select rolcreaterole or rolsuper from pg_roles where rolname = current_user) as reader`;
  if (!row) return null;
  const bad = (found: string, fix: string): CheckResult => ({
    check: 'database',
    ok: false,
    found,
    fix: fix,
  });
  const { number, version, standby, user, database, empty } = row;
  if (number < MIN_SERVER_VERSION)
    return bad(
      `PostgreSQL ${version} is too old`,
      'set DATABASE_URL to a server of PostgreSQL 15 to 18, or upgrade this server',
    );
  if (row.timeout !== SETTINGS.statement_timeout) return bad(POOLER_REASON, poolerFix('DATABASE_URL'));
  if (standby)
    return bad(
      'this server is a standby and accepts no writes',
      'set DATABASE_URL to the primary, or to both servers: postgres://one:5432,two:5432/database',
    );
  const encoding = await encodingProblem(sql);
  if (encoding) return bad(encoding.replace(/: create.*$/, ''), encoding.replace(/^.*?: create/, 'create'));
  if (empty && !row.may_create)
    return bad(
      `the user "${user}" has no permission to create tables in the database "${database}"`,
      `as a superuser: grant create on database "${database}" to "${user}"`,
    );
  if (row.owner !== null)
    return bad(
      `the record in the database "${database}" belongs to "${row.owner}", and the user "${user}" has no permission to write to it`,
      `connect as "${row.owner}", or as a superuser: grant "${row.owner}" to "${user}"`,
    );
  if (!row.reader)
    return bad(
      `the role recorder_reader is missing, and the user "${user}" has no permission to create it`,
      'as a superuser: create role recorder_reader nologin',
    );
  return null;
}

interface Rights {
  readonly number: number;
  readonly version: string;
  readonly standby: boolean;
  /**
   * The statement timeout of the session. The timeout differs from the requested timeout behind a pooler that
   * drops settings.
   */
  readonly timeout: string;
  readonly user: string;
  readonly database: string;
  readonly empty: boolean;
  readonly may_create: boolean;
  /** The owner of the schema `recorder`, if the user is not a member of that role. */
  readonly owner: string | null;
  readonly reader: boolean;
}
