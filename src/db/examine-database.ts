import { setTimeout as delay } from 'node:timers/promises';
import type postgres from 'postgres';
import type { Checked } from '../checked.ts';
import { databasePlace, type Place, placeText } from '../config/database-url.ts';
import { messageOf } from '../errors.ts';
import { connect } from './connect.ts';
import { encodingProblem } from './encoding.ts';
import { NAME_ITSELF, POOLER } from './pooler.ts';
import { sessionSettings, silenceOf } from './session.ts';

/** The oldest PostgreSQL that has what the recorder uses, as `server_version_num` has it. */
const OLDEST = 150_000;
/** Seconds for a connection. */
const PATIENCE = 5;

/** The longest wait for the first answer, ms: of a server that stands still a statement would be waited for longer. */
const LONGEST = 10_000;
const NO_ANSWER = 'NO_ANSWER';
/** How sessions of the recorder are set up. */
const SETTINGS = sessionSettings('work');

/** The parts of a database URL that people recognise; no password. */
interface Named {
  readonly user: string;
  /** All servers, as people write them. */
  readonly host: string;
  /** The first one. */
  readonly server: Place;
  readonly database: string;
  readonly hasPassword: boolean;
  /** It asks for TLS. */
  readonly tls: boolean;
}

interface Cause {
  readonly codes: readonly string[];
  readonly cause: (named: Named, message: string) => string;
  readonly mend: (named: Named, message: string) => string;
}

const CAUSES: readonly Cause[] = [
  {
    codes: ['28P01'],
    cause: ({ user, host, hasPassword }) =>
      hasPassword
        ? `${host} refuses the password of the user "${user}", or has no such user`
        : `${host} wants a password of the user "${user}", and DATABASE_URL has none`,
    mend: ({ user }) =>
      `correct user and password in DATABASE_URL (percent-encode /, @, : and #), or as a superuser: alter role "${user}" login password '…'`,
  },
  {
    codes: ['28000'],
    cause: ({ host }, message) => `${host} lets this user not in from here: ${message}`,
    mend: () => 'add a line to pg_hba.conf on the server; where it asks for encryption, add ?sslmode=require',
  },
  {
    codes: ['3D000'],
    cause: ({ host, database }) => `${host} has no database "${database}"`,
    mend: ({ server: { host, port }, user, database }) =>
      `make it: createdb --host=${host} --port=${port} --username=${user} --template=template0 --encoding=UTF8 ${database}`,
  },
  {
    codes: ['42501'],
    cause: ({ user }, message) => `the user "${user}" lacks a right: ${message}`,
    mend: ({ user, database }, message) =>
      `as a superuser: alter ${/schema \S+/.exec(message)?.[0] ?? `database "${database}"`} owner to "${user}"`,
  },
  {
    codes: ['53300'],
    cause: ({ host }, message) => `${host} gives no more connections: ${message}`,
    mend: ({ user, database }) =>
      `raise max_connections on the server, or end what holds them; where a limit is set: alter role "${user}" connection limit -1, alter database "${database}" connection limit -1. A process of the recorder needs up to 53`,
  },
  {
    codes: ['53100'],
    cause: ({ host }) => `the disk of ${host} is full`,
    mend: () => 'make room on it: until then nothing is recorded',
  },
  {
    codes: [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    ],
    cause: ({ host }, message) => `the certificate of ${host} is not trusted here: ${message}`,
    mend: () =>
      'name the certificate of its authority in NODE_EXTRA_CA_CERTS=/path/to/ca.pem; ?sslmode=require encrypts without a look at it',
  },
  {
    codes: ['ERR_TLS_CERT_ALTNAME_INVALID'],
    cause: ({ host }, message) => `the certificate of ${host} is for another name: ${message}`,
    mend: () => 'write the name that the certificate has into DATABASE_URL',
  },
  {
    codes: ['57P03', '57P01', '57P02'],
    cause: ({ host }, message) => `${host} is not ready: ${message}`,
    mend: () => 'wait until it is, then ask again',
  },
  {
    codes: ['08P01'],
    cause: ({ host }) => `${host}: ${POOLER}`,
    mend: () => NAME_ITSELF('DATABASE_URL'),
  },
  {
    codes: ['NO_PRIMARY'],
    cause: (_, message) => message,
    mend: () => 'start the primary, promote a standby, or correct DATABASE_URL',
  },
  {
    codes: ['ECONNREFUSED', 'ENOENT'],
    cause: ({ host }) => `nothing listens on ${host}`,
    mend: () =>
      'start PostgreSQL, or correct host and port in DATABASE_URL; without DATABASE_URL an embedded one is used',
  },
  {
    codes: ['ENOTFOUND', 'EAI_AGAIN'],
    cause: ({ host }) => `no host is called ${host.replace(/:\d+$/, '')}`,
    mend: () =>
      'correct the host in DATABASE_URL (in a password write / as %2F and @ as %40), or the name servers of this machine',
  },
  {
    codes: ['CONNECT_TIMEOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
    cause: ({ host }) => `${host} cannot be reached`,
    mend: () => 'let this machine through the firewall to it, or correct host and port in DATABASE_URL',
  },
  {
    codes: [NO_ANSWER],
    cause: ({ host }) => `${host} takes the connection, and does not answer as PostgreSQL does`,
    mend: () =>
      'correct the port in DATABASE_URL: it may be of another program; or see the log of the server',
  },
  {
    codes: ['ERR_NO_TLS'],
    cause: ({ host }) => `${host} does not offer TLS`,
    mend: () => 'take sslmode out of DATABASE_URL, or let the server offer TLS (ssl = on)',
  },
  {
    codes: ['ECONNRESET', 'CONNECTION_CLOSED', 'CONNECTION_DESTROYED'],
    cause: ({ host, tls }) =>
      tls
        ? `${host} closed the connection when it was asked for TLS`
        : `${host} closed the connection without an answer`,
    mend: ({ tls }) =>
      tls
        ? 'take sslmode out of DATABASE_URL, or let the server offer TLS (ssl = on)'
        : 'correct the port in DATABASE_URL: it may be of another program; or see the log of the server',
  },
];

/** Examines a database of one's own: whether it lets the recorder in, is new enough, can hold any text, and may be written. */
export async function examineDatabase(url: string): Promise<Checked> {
  const sql = connect(url, silenceOf('work'), {
    max: 1,
    connect_timeout: PATIENCE,
    onnotice: () => {},
    connection: SETTINGS,
  });
  const impatience = new AbortController();
  const late = delay(LONGEST, undefined, { signal: impatience.signal }).then(() => {
    throw Object.assign(new Error('no answer'), { code: NO_ANSWER });
  });
  try {
    const problem = await Promise.race([problemOf(sql), late]);
    if (problem) return problem;
    const [row] = await sql<{ version: string; size: string }[]>`
      select current_setting('server_version') as version, pg_size_pretty(pg_database_size(current_database())) as size`;
    return { check: 'database', ok: true, found: `PostgreSQL ${row?.version}, ${row?.size}` };
  } catch (error) {
    return diagnosed(error, url);
  } finally {
    impatience.abort();
    late.catch(() => {});
    await sql.end({ timeout: 1 });
  }
}

async function problemOf(sql: postgres.Sql): Promise<Checked | null> {
  const [row] = await sql<Rights[]>`
    select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
      pg_is_in_recovery() as standby, current_user as user, (select setting from pg_settings where name = 'statement_timeout') as timeout, current_database() as database,
      to_regnamespace('recorder') is null as empty,
      (select pg_get_userbyid(nspowner) from pg_namespace where nspname = 'recorder' and not pg_has_role(nspowner, 'usage')) as owner,
      has_database_privilege(current_database(), 'create') as may_create,
      exists (select from pg_roles where rolname = 'recorder_reader')
        or (select rolcreaterole or rolsuper from pg_roles where rolname = current_user) as reader`;
  if (!row) return null;
  const bad = (found: string, mend: string): Checked => ({ check: 'database', ok: false, found, mend });
  const { number, version, standby, user, database, empty } = row;
  if (number < OLDEST)
    return bad(
      `PostgreSQL ${version} is too old`,
      'name a server of PostgreSQL 15 to 18 in DATABASE_URL, or upgrade this one',
    );
  if (row.timeout !== SETTINGS.statement_timeout) return bad(POOLER, NAME_ITSELF('DATABASE_URL'));
  if (standby)
    return bad(
      'this server is a standby and takes no writes',
      'name the primary in DATABASE_URL, or both: postgres://one:5432,two:5432/database',
    );
  const encoding = await encodingProblem(sql);
  if (encoding) return bad(encoding.replace(/: make.*$/, ''), encoding.replace(/^.*?: make/, 'make'));
  if (empty && !row.may_create)
    return bad(
      `the user "${user}" may not make tables in the database "${database}"`,
      `as a superuser: grant create on database "${database}" to "${user}"`,
    );
  if (row.owner !== null)
    return bad(
      `the record in the database "${database}" belongs to "${row.owner}", and the user "${user}" may not write it`,
      `connect as "${row.owner}", or as a superuser: grant "${row.owner}" to "${user}"`,
    );
  if (!row.reader)
    return bad(
      `the role recorder_reader is missing, and the user "${user}" may not make it`,
      'as a superuser: create role recorder_reader nologin',
    );
  return null;
}

interface Rights {
  readonly number: number;
  readonly version: string;
  readonly standby: boolean;
  /** The limit of time that the session has: another one than it asked for, through a pooler that drops it. */
  readonly timeout: string;
  readonly user: string;
  readonly database: string;
  readonly empty: boolean;
  readonly may_create: boolean;
  /** To whom the record belongs, where the user has no part in that. */
  readonly owner: string | null;
  readonly reader: boolean;
}

/** Why a database gave an error, and what mends it. */
export function diagnosed(error: unknown, url: string): Checked {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const named = namesIn(url);
  const known = CAUSES.find(({ codes }) => codes.includes(code));
  return {
    check: 'database',
    ok: false,
    found: known ? known.cause(named, messageOf(error)) : `${named.host}: ${messageOf(error)}`,
    mend: known ? known.mend(named, messageOf(error)) : 'correct DATABASE_URL, or see the log of the server',
  };
}

function namesIn(url: string): Named {
  const { places, user, password, database, sslMode } = databasePlace(url);
  return {
    user,
    host: places.map(placeText).join(', '),
    server: places[0],
    database,
    hasPassword: password !== '',
    tls: sslMode !== 'disable',
  };
}
