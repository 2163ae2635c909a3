import { userInfo } from 'node:os';

/**
 * Address of a server: a host name or an IP address, or the folder of a Unix socket, which starts with `/`.
 */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Encryption of connections, in libpq's terms: none; without validation of the certificate; only with a
 * trusted certificate for the server's name.
 */
export type SslMode = 'disable' | 'require' | 'verify-full';

/**
 * Parsed database URL. The drivers do not get the URL itself: each parses it differently, and reads missing
 * parts from the environment.
 */
export interface ParsedDatabaseUrl {
  /** Servers in their order, one or more. */
  readonly places: readonly [ServerAddress, ...ServerAddress[]];
  readonly user: string;
  /** Password of the user; empty if the URL has none. */
  readonly password: string;
  readonly database: string;
  readonly sslMode: SslMode;
  /** True if TLS starts with the first byte, as PostgreSQL 17 supports. */
  readonly direct: boolean;
  /** Settings of each session, in libpq's format; empty if there are none. */
  readonly options: string;
}

const DEFAULT_PORT = 5432;
/** Default host of the drivers and of libpq. */
export const DEFAULT_HOST = 'localhost';

const URL_PATTERN = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/s;
const SERVER_PATTERN = /^(?:\[([^\]]+)\]|([^:[\]]*))(?::(\d*))?$/;

/** Accepted values of `sslmode` and `ssl` in a URL. */
const SSL_MODES: ReadonlyMap<string, SslMode> = new Map([
  ['disable', 'disable'],
  ['false', 'disable'],
  ['0', 'disable'],
  ['require', 'require'],
  ['no-verify', 'require'],
  // The authority cannot be specified, so the host name is always verified, too.
  ['verify-ca', 'verify-full'],
  ['verify-full', 'verify-full'],
  ['true', 'verify-full'],
  ['1', 'verify-full'],
]);
const SSL_MODE_HINT =
  'use require (encrypts without verification of the certificate), verify-full or disable';

/** Supported parameters. */
const SUPPORTED_PARAMETERS = [
  'host',
  'port',
  'user',
  'password',
  'dbname',
  'sslmode',
  'ssl',
  'sslnegotiation',
  'options',
];
/**
 * Ignored parameters of libpq: the recorder itself chooses the server, the timeouts and the names of
 * sessions.
 */
const IGNORED_PARAMETERS = [
  'application_name',
  'channel_binding',
  'client_encoding',
  'connect_timeout',
  'fallback_application_name',
  'gssencmode',
  'keepalives',
  'keepalives_count',
  'keepalives_idle',
  'keepalives_interval',
  'load_balance_hosts',
  'sslcompression',
  'sslpassword',
  'sslsni',
  'target_session_attrs',
  'tcp_user_timeout',
  'uselibpqcompat', // of pg
];
/** Parameters of libpq that the drivers do not support, with the alternative. */
const UNSUPPORTED_PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['sslrootcert', 'set NODE_EXTRA_CA_CERTS=/path/to/ca.pem to the certificate of the authority'],
  ['sslcert', 'client certificates are not supported: let the user log in with a password'],
  ['sslkey', 'client certificates are not supported: let the user log in with a password'],
  ['passfile', 'write the password into the URL'],
  ['hostaddr', 'write the address in the place of the host'],
  ['service', 'write the server, the user and the database into the URL'],
]);

/**
 * Parses a database URL as libpq does:
 * `postgres://user:password@host:port,host:port/database?host=…&options=…`.
 * @throws URIError if the text is not a URL; TypeError for any other problem. Neither message contains a
 * secret
 */
export function parseDatabaseUrl(url: string): ParsedDatabaseUrl {
  const [whole, login = '', servers = '', path = '', parameters = ''] = URL_PATTERN.exec(url.trim()) ?? [];
  if (whole === undefined) throw new URIError('not a database URL');
  const searchParams = new URLSearchParams(parameters);
  const places = parseServers(servers, searchParams);
  // After an unescaped "?" in a password, the rest of the password appears as parameters.
  if ([...searchParams.keys()].some((name) => !/^\w+$/.test(name))) throw new URIError('no parameter');
  for (const [name, value] of searchParams) rejectUnsupported(name, value);
  const [, user = '', password = ''] = /^([^:]*):?(.*)$/s.exec(login) ?? [];
  const parameterOrPart = (name: string, part: string) => searchParams.get(name) || decodeURIComponent(part);
  const named = parameterOrPart('user', user) || getUserName();
  return {
    places,
    user: named,
    password: parameterOrPart('password', password),
    database: parameterOrPart('dbname', path) || named,
    ...encryptionIn(places, searchParams),
    options: searchParams.get('options') ?? '',
  };
}

/** Returns true if the server is a Unix socket. */
export const isSocket = ({ host }: ServerAddress): boolean => host.startsWith('/');

/** Formats a server as host and port, or as the path of its socket. */
export const formatServerAddress = ({ host, port }: ServerAddress): string =>
  isSocket({ host, port })
    ? getSocketPath({ host, port })
    : `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Returns the path of the Unix socket in a folder. */
export const getSocketPath = ({ host, port }: ServerAddress): string => `${host}/.s.PGSQL.${port}`;

function rejectUnsupported(name: string, value: string): void {
  const instead = UNSUPPORTED_PARAMETERS.get(name);
  if (instead !== undefined) throw new TypeError(`${name} cannot be used: ${instead}`);
  if (name === 'channel_binding' && value === 'require')
    throw new TypeError(
      'channel_binding=require cannot be used: sslmode=verify-full verifies the server by its certificate',
    );
  if (SUPPORTED_PARAMETERS.includes(name) || IGNORED_PARAMETERS.includes(name)) return;
  throw new TypeError(
    `the parameter "${name}" is not supported: remove it (session settings are written as options=-c%20NAME%3DVALUE)`,
  );
}

/** Returns the default user of libpq: the user of this process. */
function getUserName(): string {
  try {
    return userInfo().username;
  } catch {
    throw new TypeError(
      'the user is missing, and the current user has no name in this system: write the user into the URL (postgres://USER@host)',
    );
  }
}

/** Parses the servers of a URL. The parameters `host` and `port` take precedence over the authority part. */
function parseServers(
  servers: string,
  parameters: URLSearchParams,
): readonly [ServerAddress, ...ServerAddress[]] {
  const fronts = servers.split(',').map((server) => {
    const [whole, six, name = '', port = ''] = SERVER_PATTERN.exec(server) ?? [];
    if (whole === undefined || (server === '' && servers !== ''))
      throw new TypeError(
        'write a server as host:port, an IPv6 address in [ ], and separate servers by commas',
      );
    return { host: decodeURIComponent(six ?? name), port };
  });
  const hosts = parameters.get('host')?.split(',') ?? fronts.map(({ host }) => host);
  const ports = parameters.get('port')?.split(',') ?? fronts.map(({ port }) => port);
  if (ports.length > 1 && ports.length !== hosts.length)
    throw new TypeError(
      `there are ${hosts.length} hosts and ${ports.length} ports: write one port, or one port for each host`,
    );
  const [first, ...others] = hosts.map((host, index) => ({
    host: host || DEFAULT_HOST,
    port: portOf(ports[ports.length === 1 ? 0 : index] ?? ''),
  }));
  return [first ?? { host: DEFAULT_HOST, port: DEFAULT_PORT }, ...others];
}

function portOf(text: string): number {
  if (!/^\d*$/.test(text)) throw new URIError('no port'); // the text may be part of the password
  const port = Number(text || DEFAULT_PORT);
  if (port < 1 || port > 65_535) throw new TypeError('a port is a number from 1 to 65535');
  return port;
}

function encryptionIn(
  places: readonly ServerAddress[],
  parameters: URLSearchParams,
): Pick<ParsedDatabaseUrl, 'sslMode' | 'direct'> {
  // Connections to a socket are not encrypted, as in libpq.
  if (places.every(isSocket)) return { sslMode: 'disable', direct: false };
  const sslMode = sslModeIn(parameters);
  const direct = parameters.get('sslnegotiation') === 'direct';
  if (direct && sslMode === 'disable')
    throw new TypeError('sslnegotiation=direct requires sslmode=require or sslmode=verify-full');
  if (places.some(isSocket) && sslMode !== 'disable')
    throw new TypeError(
      'connections to sockets are not encrypted: use either sockets, or hosts with sslmode',
    );
  return { sslMode, direct };
}

function sslModeIn(parameters: URLSearchParams): SslMode {
  const name = parameters.has('sslmode') ? 'sslmode' : 'ssl';
  const value = parameters.get(name);
  if (value === null) return 'disable';
  const mode = SSL_MODES.get(value);
  if (mode !== undefined) return mode;
  throw new TypeError(
    value === 'prefer' || value === 'allow'
      ? `${name}=${value} lets the server decide whether connections are encrypted, which is not supported: ${SSL_MODE_HINT}`
      : `there is no such ${name}: ${SSL_MODE_HINT}`,
  );
}
