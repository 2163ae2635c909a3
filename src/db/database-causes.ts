import { formatServerAddress, parseDatabaseUrl, type ServerAddress } from '../config/database-url.ts';
import { toErrorMessage } from '../lib/errors.ts';
import { isDatabaseUnavailable } from './connection-error.ts';
import { POOLER_REASON, poolerFix } from './detect-pooler.ts';

/** Error code of a server that accepts the connection and then sends nothing. */
export const NO_ANSWER = 'NO_ANSWER';

/** The parts of a database URL that may appear in errors. The password is not one of these parts. */
interface DatabaseFacts {
  readonly user: string;
  /** All servers, as `host:port`. */
  readonly host: string;
  /** The first server. */
  readonly server: ServerAddress;
  readonly database: string;
  readonly hasPassword: boolean;
  /** True if connections are encrypted with TLS. */
  readonly tls: boolean;
  /** The environment variable that contains the URL. */
  readonly variable: string;
}

interface Cause {
  readonly codes: readonly string[];
  readonly cause: (named: DatabaseFacts, message: string) => string;
  readonly fix: (named: DatabaseFacts, message: string) => string;
}

const CAUSES: readonly Cause[] = [
  {
    codes: ['28P01'],
    cause: ({ user, host, hasPassword, variable }) =>
      hasPassword
        ? `${host} refuses the password of the user "${user}", or has no such user`
        : `${host} requires a password for the user "${user}", and ${variable} contains none`,
    fix: ({ user, variable }) =>
      `correct user and password in ${variable} (percent-encode /, @, : and #), or as a superuser: alter role "${user}" login password '…'`,
  },
  {
    codes: ['28000'],
    cause: ({ host }, message) => `${host} rejects this user from this machine: ${message}`,
    fix: ({ user, variable }, message) =>
      /not permitted to log in|does not exist/.test(message)
        ? `name another user in ${variable}, or as a superuser: alter role "${user}" login (create role, if it is missing)`
        : 'add a line for this machine to pg_hba.conf on the server; if the server requires encryption, add ?sslmode=require to the URL',
  },
  {
    codes: ['3D000'],
    cause: ({ host, database }) => `${host} has no database "${database}"`,
    fix: ({ server: { host, port }, user, database }) =>
      `create it: createdb --host=${host} --port=${port} --username=${user} --template=template0 --encoding=UTF8 ${database}`,
  },
  {
    codes: ['42501'],
    cause: ({ user }, message) => `the user "${user}" lacks a privilege: ${message}`,
    fix: ({ user, database }, message) =>
      `as a superuser: alter ${/schema \S+/.exec(message)?.[0] ?? `database "${database}"`} owner to "${user}"`,
  },
  {
    codes: ['53300'],
    cause: ({ host }, message) => `${host} accepts no more connections: ${message}`,
    fix: ({ user, database }) =>
      `raise max_connections on the server, or close other connections; if a limit is set: alter role "${user}" connection limit -1, alter database "${database}" connection limit -1. A process of the recorder needs up to 53`,
  },
  {
    codes: ['53200'],
    cause: ({ host }, message) => `${host} lacks memory: ${message}`,
    fix: (_, message) =>
      message.includes('shared memory')
        ? 'end the program whose session holds so many locks that the server has no room for more, or restart the server: new sessions are ' +
          'refused until then. drizzle/limit-readers.sql of this package prevents readers from holding so many locks'
        : 'give the server more memory, or let it use less (work_mem, max_connections)',
  },
  {
    codes: ['53100'],
    cause: ({ host }) => `the disk of ${host} is full`,
    fix: () => 'free disk space: nothing is recorded until then',
  },
  {
    codes: [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    ],
    cause: ({ host }, message) => `the certificate of ${host} is not trusted by this machine: ${message}`,
    fix: () =>
      'set NODE_EXTRA_CA_CERTS=/path/to/ca.pem to the certificate of its authority; ?sslmode=require encrypts without verification',
  },
  {
    codes: ['ERR_TLS_CERT_ALTNAME_INVALID'],
    cause: ({ host }, message) => `the certificate of ${host} is for another name: ${message}`,
    fix: ({ variable }) => `use a host name of the certificate in ${variable}`,
  },
  {
    codes: ['55P03', '57014'],
    cause: ({ host }, message) => `a statement waited for too long on ${host}: ${message}`,
    fix: () =>
      'end the session that holds the lock: select pid, usename, application_name, xact_start from pg_stat_activity where pid in (select unnest(pg_blocking_pids(pid)) from pg_stat_activity)',
  },
  {
    codes: ['57P03', '57P01', '57P02'],
    cause: ({ host }, message) => `${host} is not ready: ${message}`,
    fix: () => 'wait until the server is ready, then retry',
  },
  {
    codes: ['08P01'],
    cause: ({ host }) => `${host}: ${POOLER_REASON}`,
    fix: ({ variable }) => poolerFix(variable),
  },
  {
    codes: ['NO_PRIMARY'],
    cause: (_, message) => message,
    fix: ({ variable }) => `start the primary, promote a standby, or correct ${variable}`,
  },
  {
    codes: ['ECONNREFUSED', 'ENOENT'],
    cause: ({ host }) => `nothing listens on ${host}`,
    fix: ({ variable }) =>
      `start PostgreSQL, or correct host and port in ${variable}; without DATABASE_URL an embedded one is used`,
  },
  {
    codes: ['ENOTFOUND', 'EAI_AGAIN'],
    cause: ({ host }) => `the host name ${host.replace(/:\d+$/, '')} cannot be resolved`,
    fix: ({ variable }) =>
      `correct the host in ${variable} (in a password write / as %2F and @ as %40), or check the name servers of this machine`,
  },
  {
    codes: ['CONNECT_TIMEOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
    cause: ({ host }) => `${host} cannot be reached`,
    fix: ({ variable }) =>
      `allow connections from this machine in the firewall, or correct host and port in ${variable}`,
  },
  {
    codes: [NO_ANSWER],
    cause: ({ host }) => `${host} accepts connections, but does not respond as PostgreSQL`,
    fix: ({ variable }) =>
      `correct the port in ${variable} (another program may use it), or see the log of the server`,
  },
  {
    codes: ['ERR_NO_TLS'],
    cause: ({ host }) => `${host} does not offer TLS`,
    fix: ({ variable }) => `remove sslmode from ${variable}, or enable TLS on the server (ssl = on)`,
  },
  {
    codes: ['ECONNRESET', 'CONNECTION_CLOSED', 'CONNECTION_DESTROYED'],
    cause: ({ host, tls }) =>
      tls
        ? `${host} closed the connection at the TLS request`
        : `${host} closed the connection without an answer`,
    fix: ({ tls, variable }) =>
      tls
        ? `remove sslmode from ${variable}, or enable TLS on the server (ssl = on)`
        : `correct the port in ${variable} (another program may use it), or see the log of the server`,
  },
];

/**
 * Returns the cause and the fix of a database error.
 * @param variable the environment variable that contains the URL
 */
export function explainDatabaseError(
  error: unknown,
  url: string,
  variable: string,
): { found: string; fix: string } {
  const known = causeOf(error);
  const named = { ...namesIn(url), variable };
  return {
    found: known ? known.cause(named, toErrorMessage(error)) : `${named.host}: ${toErrorMessage(error)}`,
    fix: known
      ? known.fix(named, toErrorMessage(error))
      : `correct ${variable}, or see the log of the server`,
  };
}

/** Returns whether a server refused the connection for one of the {@link CAUSES}. */
export const isKnownRefusal = (error: unknown): boolean =>
  causeOf(error) !== undefined && !isDatabaseUnavailable(error);

function causeOf(error: unknown): Cause | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return CAUSES.find(({ codes }) => codes.includes(code));
}

function namesIn(url: string): Omit<DatabaseFacts, 'variable'> {
  const { places, user, password, database, sslMode } = parseDatabaseUrl(url);
  return {
    user,
    host: places.map(formatServerAddress).join(', '),
    server: places[0],
    database,
    hasPassword: password !== '',
    tls: sslMode !== 'disable',
  };
}
