import { userInfo } from 'node:os';

/** Where a server listens: a name or an address, or the folder of a Unix socket, which begins with `/`. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** How connections are encrypted, as libpq calls it: not; without a look at the certificate; only with one that is trusted and has the server's name. */
export type SslMode = 'disable' | 'require' | 'verify-full';

/** What a database URL says. Neither driver is given the URL: each reads it in its own way, and takes what it lacks from the environment. */
export interface DatabasePlace {
  /** The servers in their order, one or more. */
  readonly places: readonly [Place, ...Place[]];
  readonly user: string;
  /** Empty: none. */
  readonly password: string;
  readonly database: string;
  readonly sslMode: SslMode;
  /** The encryption begins with the first byte, as PostgreSQL 17 allows. */
  readonly direct: boolean;
  /** Settings of each session, in libpq's form; empty: none. */
  readonly options: string;
}

const PORT = 5432;
/** What drivers and libpq take where the URL names no server. */
export const HOST = 'localhost';

const PARTS = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/s;
const SERVER = /^(?:\[([^\]]+)\]|([^:[\]]*))(?::(\d*))?$/;

/** What `sslmode`, or `ssl`, may be in a URL. */
const SSL_MODES: ReadonlyMap<string, SslMode> = new Map([
  ['disable', 'disable'],
  ['false', 'disable'],
  ['0', 'disable'],
  ['require', 'require'],
  ['no-verify', 'require'],
  // Which authority it has to be cannot be said, so the name is always looked at, too.
  ['verify-ca', 'verify-full'],
  ['verify-full', 'verify-full'],
  ['true', 'verify-full'],
  ['1', 'verify-full'],
]);
const MAY_BE = 'write require (encrypts without a look at the certificate), verify-full or disable';

/** Parameters that are read here. */
const READ = ['host', 'port', 'user', 'password', 'dbname', 'sslmode', 'ssl', 'sslnegotiation', 'options'];
/** Parameters of libpq about what the recorder does in its own way: which server it takes, how long it waits, what sessions are called. */
const OWN_WAY = [
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
/** Parameters of libpq that a driver does not have, and what to do instead. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['sslrootcert', 'name the certificate of the authority in NODE_EXTRA_CA_CERTS=/path/to/ca.pem'],
  ['sslcert', 'no certificate of a client is sent: let the user log in with a password'],
  ['sslkey', 'no certificate of a client is sent: let the user log in with a password'],
  ['passfile', 'write the password into the URL'],
  ['hostaddr', 'write the address in the place of the host'],
  ['service', 'write the server, the user and the database into the URL'],
]);

/**
 * Reads a database URL (contract section 2) as libpq does: `postgres://user:password@host:port,host:port/database?host=…&options=…`.
 * @throws URIError when it cannot be read; TypeError saying what is wrong with it. Neither repeats a secret
 */
export function databasePlace(url: string): DatabasePlace {
  const [whole, login = '', servers = '', path = '', parameters = ''] = PARTS.exec(url.trim()) ?? [];
  if (whole === undefined) throw new URIError('no URL of a database');
  const given = new URLSearchParams(parameters);
  const places = placesIn(servers, given);
  // Behind a "?" that nobody escaped stands a part of the password.
  if ([...given.keys()].some((name) => !/^\w+$/.test(name))) throw new URIError('no parameter');
  for (const [name, value] of given) refuseUnusable(name, value);
  const [, user = '', password = ''] = /^([^:]*):?(.*)$/s.exec(login) ?? [];
  const said = (name: string, part: string) => given.get(name) || decodeURIComponent(part);
  const named = said('user', user) || ownName();
  return {
    places,
    user: named,
    password: said('password', password),
    database: said('dbname', path) || named,
    ...encryptionIn(places, given),
    options: given.get('options') ?? '',
  };
}

/** Whether a place is the folder of a Unix socket. */
export const isSocket = ({ host }: Place): boolean => host.startsWith('/');

/** A place as people write it. */
export const placeText = ({ host, port }: Place): string =>
  isSocket({ host, port }) ? socketIn({ host, port }) : `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** The file of the Unix socket in a folder. */
export const socketIn = ({ host, port }: Place): string => `${host}/.s.PGSQL.${port}`;

function refuseUnusable(name: string, value: string): void {
  const instead = ELSEWHERE.get(name);
  if (instead !== undefined) throw new TypeError(`${name} cannot be used: ${instead}`);
  if (name === 'channel_binding' && value === 'require')
    throw new TypeError(
      'channel_binding=require cannot be used: sslmode=verify-full makes sure of the server by its certificate',
    );
  if (READ.includes(name) || OWN_WAY.includes(name)) return;
  throw new TypeError(
    `the parameter "${name}" is not known here: take it out (a setting of sessions is written options=-c%20NAME%3DVALUE)`,
  );
}

/** What libpq takes for the user where none is named. */
function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    throw new TypeError('it names no user, and the system has no name for this one');
  }
}

/** The servers of a URL: those of the parameters `host` and `port` stand before those of its front. */
function placesIn(servers: string, given: URLSearchParams): readonly [Place, ...Place[]] {
  const fronts = servers.split(',').map((server) => {
    const [whole, six, name = '', port = ''] = SERVER.exec(server) ?? [];
    if (whole === undefined || (server === '' && servers !== ''))
      throw new TypeError(
        'a server is written host:port, its address of IPv6 in [ ], several with a comma between',
      );
    return { host: decodeURIComponent(six ?? name), port };
  });
  const hosts = given.get('host')?.split(',') ?? fronts.map(({ host }) => host);
  const ports = given.get('port')?.split(',') ?? fronts.map(({ port }) => port);
  if (ports.length > 1 && ports.length !== hosts.length)
    throw new TypeError(
      `there are ${hosts.length} hosts and ${ports.length} ports: write one port, or one for each`,
    );
  const [first, ...others] = hosts.map((host, index) => ({
    host: host || HOST,
    port: portOf(ports[ports.length === 1 ? 0 : index] ?? ''),
  }));
  return [first ?? { host: HOST, port: PORT }, ...others];
}

function portOf(text: string): number {
  if (!/^\d*$/.test(text)) throw new URIError('no port'); // it may be a part of the password
  const port = Number(text || PORT);
  if (port < 1 || port > 65_535) throw new TypeError('a port is a number from 1 to 65535');
  return port;
}

function encryptionIn(
  places: readonly Place[],
  given: URLSearchParams,
): Pick<DatabasePlace, 'sslMode' | 'direct'> {
  // A socket is not encrypted, and libpq does not ask for it either.
  if (places.every(isSocket)) return { sslMode: 'disable', direct: false };
  const sslMode = sslModeIn(given);
  const direct = given.get('sslnegotiation') === 'direct';
  if (direct && sslMode === 'disable')
    throw new TypeError('sslnegotiation=direct wants sslmode=require or verify-full beside it');
  if (places.some(isSocket) && sslMode !== 'disable')
    throw new TypeError(
      'connections to sockets are not encrypted: name them or hosts with sslmode, not both',
    );
  return { sslMode, direct };
}

function sslModeIn(parameters: URLSearchParams): SslMode {
  const name = parameters.has('sslmode') ? 'sslmode' : 'ssl';
  const given = parameters.get(name);
  if (given === null) return 'disable';
  const mode = SSL_MODES.get(given);
  if (mode !== undefined) return mode;
  throw new TypeError(
    given === 'prefer' || given === 'allow'
      ? `${name}=${given} leaves it to the server whether connections are encrypted, which not every part of the recorder can: ${MAY_BE}`
      : `there is no such ${name}: ${MAY_BE}`,
  );
}
