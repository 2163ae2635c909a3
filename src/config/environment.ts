import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { messageOf, UsageError } from '../errors.ts';
import { nearestName } from '../nearest-name.ts';
import { SHORTEST_SECRET } from '../redaction.ts';
import { serverUrls } from './database-url.ts';
import { headerPairs, OTLP_VARIABLES, type OtlpSettings, otlpSettings } from './otlp.ts';
import { REDIS_SCHEMES, redisPlace } from './redis-url.ts';

/** What the recorder takes from its environment (contract section 2). The only reader of `process.env`. */
export interface Environment {
  /** One server or several, of which one takes writes. Undefined: embedded PostgreSQL. */
  readonly databaseUrl: string | undefined;
  /** A replica of it, which is read in its place. Undefined: there is none. */
  readonly reportingUrl: string | undefined;
  /** Undefined: the queue lives in PostgreSQL. */
  readonly redisUrl: string | undefined;
  /** Where the embedded PostgreSQL listens. Undefined: on the port of its first start. */
  readonly pgPort: number | undefined;
  readonly host: string;
  readonly port: number;
  /** What a caller of the HTTP server has to show. Undefined: nothing. */
  readonly token: string | undefined;
  /** Undefined: as the command has it. */
  readonly logLevel: string | undefined;
  /** Logs are lines of JSON, even on a terminal. */
  readonly logJson: boolean;
  /** The terminal can only write lines. */
  readonly plainTerminal: boolean;
  readonly configFile: string | undefined;
  /** Where programs keep what they remember of this user. */
  readonly stateHome: string;
  /** Where systemd wants to be told how the service fares. Undefined: systemd did not start it so. */
  readonly notifySocket: string | undefined;
  /** The longest time without a sign of life before systemd starts the service anew, ms. Undefined: any. */
  readonly watchdog: number | undefined;
  readonly chainDataKey: string | undefined;
  readonly metricsKey: string | undefined;
  /** How exports reach S3. */
  readonly s3: {
    /** Undefined: AWS's own. */
    readonly endpoint: string | undefined;
    readonly region: string | undefined;
    /** Undefined: found as AWS's own programs find them. */
    readonly keys:
      | { readonly id: string; readonly secret: string; readonly session: string | undefined }
      | undefined;
    /** What is wrong with these variables, which are other programs' too: told where S3 is needed. */
    readonly problems: readonly string[];
  };
  /** Signs seals: ed25519. Undefined: they are not signed. */
  readonly sealKey: KeyObject | undefined;
  /** Where traces and logs are sent. Undefined: nowhere. */
  readonly otlp: OtlpSettings | undefined;
}

/** A shorter token could be guessed. */
const SHORTEST_TOKEN = 16;

/** A key as services give it. Quotes around it come from files of variables that keep them. */
const SENT_AS_IT_IS = /^[\x21\x23-\x26\x28-\x7e]([\x20-\x7e]*[\x21\x23-\x26\x28-\x7e])?$/;

const POSTGRES_SCHEMES = ['postgres:', 'postgresql:'];
const LOG_FORMATS = ['json', 'text'];
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** A variable of the environment, as docs/settings.md tells it. */
export interface Variable {
  readonly about: string;
  /** The value where it is not set. */
  readonly preset?: string;
  /** In words what holds where it is not set and has no preset. */
  readonly absent?: string;
  /** The values that it may have; not given: see {@link about}. */
  readonly values?: readonly string[];
  /** It is secret: `NAME_FILE` may name a file that holds it. */
  readonly secret?: true;
}

/** Every variable that is read. */
export const VARIABLES = {
  DATABASE_URL: {
    about:
      'PostgreSQL: postgres://user:password@host:port/database, or a primary and its standbys as host:port,host:port.',
    absent: 'an embedded PostgreSQL in .recorder/',
    secret: true,
  },
  REPORTING_DATABASE_URL: {
    about:
      'A replica (streaming standby) of the PostgreSQL in DATABASE_URL, one server, that pages, the API, query, report and export read, so that the primary only records: docs/operations.md.',
    absent: 'they read DATABASE_URL',
    secret: true,
  },
  REDIS_URL: {
    about:
      'Redis or Valkey for the queue: redis://host:port; a cluster by some of its nodes, redis-cluster://host:port,host:port; a primary that sentinels watch, redis-sentinel://host:port,host:port/name. With TLS: rediss://, rediss-cluster://, rediss-sentinel://.',
    absent: 'the queue is in PostgreSQL',
    secret: true,
  },
  RECORDER_HOST: {
    about:
      'The address that the HTTP server listens on. Elsewhere than on this machine it needs RECORDER_TOKEN, or a proxy in `server.proxies`.',
    preset: '127.0.0.1',
  },
  RECORDER_PG_PORT: {
    about: 'The port that the embedded PostgreSQL listens on, on 127.0.0.1.',
    absent: 'the same free one at every start',
  },
  RECORDER_PORT: {
    about: 'The port that the HTTP server listens on, 0 to 65535; 0: any free one.',
    preset: '8080',
  },
  RECORDER_TOKEN: {
    about: `Opens the pages, the API and /metrics, as \`Authorization: Bearer TOKEN\` or in the form that the pages show; ${SHORTEST_TOKEN} characters or more.`,
    absent: 'whoever reaches the server may read',
    secret: true,
  },
  RECORDER_CONFIG: {
    about: 'The configuration file, where --config names none.',
    absent: 'recorder.yaml in the working directory; without that file the sandbox is the upstream',
  },
  XDG_STATE_HOME: {
    about: 'Where it is remembered, in chain-recorder/, in which directories there are records.',
    absent: '~/.local/state',
  },
  LOG_LEVEL: {
    about: 'The least important lines that are logged.',
    absent: 'info for up, warn for the other commands',
    values: LOG_LEVELS,
  },
  LOG_FORMAT: {
    about: 'How logs look on a terminal. Elsewhere every line is JSON.',
    preset: 'text',
    values: LOG_FORMATS,
  },
  NOTIFY_SOCKET: {
    about:
      'Set by systemd for a service of `Type=notify`: up tells it there that it is ready, stops, or reads its configuration anew.',
    absent: 'nobody is told',
  },
  WATCHDOG_USEC: {
    about:
      'Set by systemd where the unit has WatchdogSec: up shows within this time, in microseconds, that it works.',
    absent: 'nobody is shown',
  },
  TERM: {
    about: 'The terminal. On one that is called dumb, up shows lines only, without a live summary.',
    absent: 'a terminal that can write in place',
  },
  CHAIN_DATA_API_KEY: {
    about: `The key of the chain data service, sent in upstreams.chainData.apiKeyHeader; ${SHORTEST_SECRET} characters or more.`,
    absent: 'no key is sent',
    secret: true,
  },
  METRICS_API_KEY: {
    about: `The key of the metrics service, sent in upstreams.metrics.apiKeyHeader; ${SHORTEST_SECRET} characters or more.`,
    absent: 'no key is sent',
    secret: true,
  },
  AWS_ACCESS_KEY_ID: {
    about: 'The id of the key with which exports reach S3.',
    absent: "as AWS's own programs find one: profiles, roles",
    secret: true,
  },
  AWS_SECRET_ACCESS_KEY: {
    about: 'The secret of that key.',
    absent: 'as for its id',
    secret: true,
  },
  AWS_SESSION_TOKEN: {
    about: 'The token of keys that hold for a time.',
    absent: 'none',
    secret: true,
  },
  AWS_REGION: {
    about: 'The region of the bucket that exports go to.',
    absent: "as AWS's own programs find it; us-east-1 where AWS_ENDPOINT_URL is set",
  },
  AWS_ENDPOINT_URL: {
    about: "Where S3 is, where it is not AWS's: http or https.",
    absent: "AWS's",
  },
  SEAL_KEY: {
    about: 'The ed25519 private key that signs seals, in PEM, without a password.',
    absent: 'seals are not signed',
    secret: true,
  },
  ...OTLP_VARIABLES,
} as const satisfies Readonly<Record<string, Variable>>;

type Variables = typeof VARIABLES;
type Having<Property extends string> = {
  [Name in keyof Variables]: Property extends keyof Variables[Name] ? Name : never;
}[keyof Variables];

/** What a variable is set to; one that is set to nothing is not set. */
const textIn = (env: NodeJS.ProcessEnv, name: keyof Variables): string | undefined => env[name] || undefined;
const fileIn = (env: NodeJS.ProcessEnv, name: Having<'secret'>): string | undefined =>
  env[`${name}_FILE`] || undefined;

/**
 * Reads the environment; a secret `NAME` may come from the file that `NAME_FILE` names.
 * @throws UsageError when something is wrong: every problem
 */
export function readEnvironment(env: NodeJS.ProcessEnv = process.env): Environment {
  const problems: string[] = [];
  const textOf = (name: Having<'preset'>): string => textIn(env, name) ?? VARIABLES[name].preset;
  const secret = (name: Having<'secret'>, found = problems): string | undefined => {
    const file = fileIn(env, name);
    const value = textIn(env, name);
    if (file === undefined) return value;
    if (value !== undefined) found.push(`${name}: set either ${name} or ${name}_FILE, not both`);
    try {
      return readFileSync(file, 'utf8').trim();
    } catch (error) {
      found.push(`${name}_FILE: ${messageOf(error)}`);
      return undefined;
    }
  };
  /** @param read throws where the URL names nothing that can be used */
  const url = (
    name: Having<'secret'>,
    protocols: readonly string[],
    read: (url: string) => unknown = serverUrls,
  ): string | undefined => {
    const value = secret(name);
    if (value === undefined) return undefined;
    const right = protocols.some((protocol) => value.startsWith(`${protocol}//`));
    if (!right) problems.push(`${name}: must begin with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    else if (!isReadable(value))
      problems.push(
        `${name}: is no URL that can be read: in user and password write / as %2F, @ as %40, : as %3A, # as %23, ? as %3F and % as %25`,
      );
    else
      try {
        read(value);
      } catch (error) {
        problems.push(`${name}: ${messageOf(error)}`);
      }
    return value;
  };
  const portIn = (name: 'RECORDER_PORT' | 'RECORDER_PG_PORT', text: string): number => {
    const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
    if (!(port <= 65_535)) problems.push(`${name}: must be a port number, not "${text}"`);
    return port;
  };
  const port = portIn('RECORDER_PORT', textOf('RECORDER_PORT'));
  const pgPort = textIn(env, 'RECORDER_PG_PORT');
  const logLevel = textIn(env, 'LOG_LEVEL');
  if (logLevel !== undefined && !LOG_LEVELS.includes(logLevel))
    problems.push(`LOG_LEVEL: must be one of ${LOG_LEVELS.join(', ')}`);
  const logFormat = textOf('LOG_FORMAT');
  if (!LOG_FORMATS.includes(logFormat)) problems.push(`LOG_FORMAT: must be one of ${LOG_FORMATS.join(', ')}`);
  const key = (name: Having<'secret'>): string | undefined => {
    const value = secret(name);
    if (value !== undefined && value.length < SHORTEST_SECRET)
      problems.push(
        `${name}: is shorter than ${SHORTEST_SECRET} characters: it could not be kept out of what is recorded`,
      );
    if (value !== undefined && !SENT_AS_IT_IS.test(value))
      problems.push(
        `${name}: begins or ends with a quote or a space, or has characters that no header can carry: give the key alone`,
      );
    return value;
  };
  const signingKey = (name: Having<'secret'>): KeyObject | undefined => {
    const pem = secret(name);
    if (pem === undefined) return undefined;
    try {
      const key = createPrivateKey(pem);
      if (key.asymmetricKeyType === 'ed25519') return key;
    } catch {
      // What OpenSSL says of a key that it cannot read helps nobody.
    }
    problems.push(
      `${name}: must be an ed25519 private key in PEM without a password: make one with "openssl genpkey -algorithm ed25519"`,
    );
    return undefined;
  };
  const s3Problems: string[] = [];
  const endpoint = textIn(env, 'AWS_ENDPOINT_URL');
  if (endpoint !== undefined && !/^https?:$/.test(URL.canParse(endpoint) ? new URL(endpoint).protocol : ''))
    s3Problems.push('AWS_ENDPOINT_URL: must be an http or https URL');
  const s3Keys = () => {
    const id = secret('AWS_ACCESS_KEY_ID', s3Problems);
    const value = secret('AWS_SECRET_ACCESS_KEY', s3Problems);
    const session = secret('AWS_SESSION_TOKEN', s3Problems);
    if ((id === undefined) !== (value === undefined))
      s3Problems.push('AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: one is set without the other');
    return id !== undefined && value !== undefined ? { id, secret: value, session } : undefined;
  };
  const token = secret('RECORDER_TOKEN');
  if (token !== undefined && token.length < SHORTEST_TOKEN)
    problems.push(
      `RECORDER_TOKEN: is shorter than ${SHORTEST_TOKEN} characters and could be guessed: make one with "openssl rand -hex 16"`,
    );
  const databaseUrl = url('DATABASE_URL', POSTGRES_SCHEMES);
  const environment = {
    databaseUrl,
    reportingUrl: url('REPORTING_DATABASE_URL', POSTGRES_SCHEMES, refuseSeveral),
    redisUrl: url('REDIS_URL', REDIS_SCHEMES, redisPlace),
    pgPort: pgPort === undefined ? undefined : portIn('RECORDER_PG_PORT', pgPort),
    stateHome: textIn(env, 'XDG_STATE_HOME') ?? join(homedir(), '.local', 'state'),
    host: textOf('RECORDER_HOST'),
    port,
    token,
    logLevel,
    logJson: logFormat === 'json',
    notifySocket: textIn(env, 'NOTIFY_SOCKET'),
    watchdog: Number(textIn(env, 'WATCHDOG_USEC')) / 1000 || undefined,
    plainTerminal: textIn(env, 'TERM') === 'dumb',
    configFile: textIn(env, 'RECORDER_CONFIG'),
    chainDataKey: key('CHAIN_DATA_API_KEY'),
    metricsKey: key('METRICS_API_KEY'),
    s3: {
      endpoint,
      region: textIn(env, 'AWS_REGION') ?? (endpoint === undefined ? undefined : 'us-east-1'),
      keys: s3Keys(),
      problems: s3Problems,
    },
    sealKey: signingKey('SEAL_KEY'),
    otlp: otlpSettings(
      (name) => (name === 'OTEL_EXPORTER_OTLP_HEADERS' ? secret(name) : textIn(env, name)),
      problems,
    ),
  };
  if (environment.reportingUrl !== undefined && databaseUrl === undefined)
    problems.push(
      'REPORTING_DATABASE_URL: is set without DATABASE_URL: the embedded PostgreSQL has no replica; name the primary in DATABASE_URL',
    );
  if (problems.length > 0) throw new UsageError(problems);
  return environment;
}

/** @throws Error when a URL names several servers: which of them is read would change without notice */
function refuseSeveral(url: string): void {
  if (serverUrls(url).length > 1)
    throw new Error('names several servers: name one replica, or what divides connections among replicas');
}

/** What programs that the recorder starts have of its environment: where programs and the user's files are. No secret is in it. */
export function environmentOfPrograms(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = env;
  return { PATH, HOME, TMPDIR };
}

/** The environment without what is wrong in it, and every problem. */
export function soundEnvironment(env: NodeJS.ProcessEnv = process.env): {
  environment: Environment;
  problems: readonly string[];
} {
  try {
    return { environment: readEnvironment(env), problems: [] };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const wrong = error.problems.map((problem) => problem.replace(/(_FILE)?:.*$/s, ''));
    const sound = Object.entries(env).filter(([name]) => !wrong.includes(name.replace(/_FILE$/, '')));
    return { environment: readEnvironment(Object.fromEntries(sound)), problems: error.problems };
  }
}

/** Whether every part of a URL of one server or several can be read. */
function isReadable(text: string): boolean {
  try {
    for (const url of serverUrls(text).map((one) => new URL(one)))
      for (const part of [url.username, url.password, url.pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/** What is probably a mistake in the environment although it is valid: what it is, and of a fault the mend. */
export function doubtfulVariables(
  env: NodeJS.ProcessEnv = process.env,
): readonly { readonly found: string; readonly mend?: string }[] {
  const known = Object.entries<Variable>(VARIABLES).flatMap(([name, { secret }]) =>
    secret ? [name, `${name}_FILE`] : [name],
  );
  const empty = known
    .filter((name) => env[name] === '')
    .map((name) => ({ found: `${name} is set to nothing, and counts as not set` }));
  const misspelt = Object.keys(env).flatMap((name) => {
    if (known.includes(name)) return [];
    const meant = nearestName(name, known, OWN.test(name) ? 3 : 1);
    return meant === undefined || env[meant]
      ? []
      : [{ found: `${name} is set, and there is no such variable`, mend: `set ${meant} instead` }];
  });
  const unused = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY']
    .flatMap((name) => [name, name.toLowerCase()])
    .filter((name) => env[name])
    .map((name) => ({ found: `${name} is set, and not used: upstreams are asked directly` }));
  return [...empty, ...misspelt, ...unused];
}

/** Names that are hardly of another program. */
const OWN = /^(RECORDER|CHAIN_DATA|METRICS)_/;

/** `scheme://user:password@host/database`, and passwords among a URL's parameters. */
const PASSWORD_IN_URL =
  /:\/\/([^/?#@:]*):([^/?#@]*)@[^/?#]*\/?([^?#]*)|[?&](?:ssl|sentinel)?password=([^&#]*)/gi;

/**
 * The secrets of the environment, which must not be in a log or an error. It works when other variables are invalid, too.
 * A password that equals the name of its user or database does not count as a secret.
 */
export function readSecrets(env: NodeJS.ProcessEnv = process.env): string[] {
  const value = (name: Having<'secret'>) => {
    try {
      const file = fileIn(env, name);
      return file === undefined ? textIn(env, name) : readFileSync(file, 'utf8').trim();
    } catch {
      return undefined; // readEnvironment reports it
    }
  };
  const passwords = (['DATABASE_URL', 'REPORTING_DATABASE_URL', 'REDIS_URL'] as const).flatMap((name) =>
    [...(value(name) ?? '').matchAll(PASSWORD_IN_URL)].map(([, user, password, database, parameter]) =>
      password !== user && password !== database ? password : parameter,
    ),
  );
  const sent = headerPairs(value('OTEL_EXPORTER_OTLP_HEADERS') ?? '').flatMap(([, text]) => [
    text,
    decoded(text),
    decoded(text).replace(/^(Basic|Bearer) +/i, ''),
  ]);
  // Of the lines of a PEM those that say something.
  const pem = (value('SEAL_KEY') ?? '').split(/\s+/).filter((line) => /^[\w+/=]{32,}$/.test(line));
  return (
    [
      'CHAIN_DATA_API_KEY',
      'METRICS_API_KEY',
      'RECORDER_TOKEN',
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_SESSION_TOKEN',
    ] as const
  )
    .map(value)
    .concat(pem, sent)
    .concat(passwords.flatMap((text) => (text ? [text, decoded(text)] : [])))
    .flatMap((secret) => secret || []);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
