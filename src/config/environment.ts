import { createPrivateKey, type KeyObject } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { toErrorMessage, UsageError } from '../lib/errors.ts';
import { readInputFile } from '../lib/read-input-file.ts';
import { MIN_SECRET_LENGTH } from '../lib/redaction.ts';
import { parseDatabaseUrl } from './database-url.ts';
import { type OtlpSettings, parseOtlpSettings } from './otlp.ts';
import { parseRedisUrl, REDIS_SCHEMES } from './redis-url.ts';
import {
  LOG_FORMATS,
  LOG_LEVELS,
  MIN_TOKEN_LENGTH,
  readSecretFilePath,
  readVariable,
  VARIABLES,
  type VariableWith,
} from './variables.ts';

/** Settings from the environment. Only `src/config` reads `process.env`. */
export interface Environment {
  /** URL of one server, or of several of which one is writable. Undefined: embedded PostgreSQL. */
  readonly databaseUrl: string | undefined;
  /** URL of a read replica. Undefined: there is none. */
  readonly reportingUrl: string | undefined;
  /** Undefined: the queue is in PostgreSQL. */
  readonly redisUrl: string | undefined;
  /** Port of the embedded PostgreSQL. Undefined: the port of its first start. */
  readonly pgPort: number | undefined;
  readonly host: string;
  readonly port: number;
  /** Token that HTTP clients must send. Undefined: none. */
  readonly token: string | undefined;
  /** Undefined: the default of the command. */
  readonly logLevel: string | undefined;
  /** True: the log is JSON lines, even on a terminal. */
  readonly logJson: boolean;
  /** True: the terminal cannot move the cursor. */
  readonly plainTerminal: boolean;
  readonly configFile: string | undefined;
  /** Folder for the state of this user's programs (XDG_STATE_HOME); null if the user has no home. */
  readonly stateHome: string | null;
  /** Notify socket of systemd. Undefined: systemd did not set it. */
  readonly notifySocket: string | undefined;
  /** Watchdog timeout after which systemd restarts the service, in ms. Undefined: none. */
  readonly watchdog: number | undefined;
  readonly chainDataKey: string | undefined;
  readonly metricsKey: string | undefined;
  /** Access to S3 for exports. */
  readonly s3: {
    /** Undefined: AWS's own endpoint. */
    readonly endpoint: string | undefined;
    readonly region: string | undefined;
    /** Undefined: resolved as by AWS's own programs. */
    readonly keys:
      | { readonly id: string; readonly secret: string; readonly session: string | undefined }
      | undefined;
    /** Problems of these variables, which other programs share. Reported only when S3 is used. */
    readonly problems: readonly string[];
  };
  /** Private key for signing seals: ed25519. Undefined: seals are not signed. */
  readonly sealKey: KeyObject | undefined;
  /** Destination of traces and logs. Undefined: none. */
  readonly otlp: OtlpSettings | undefined;
}
/** Matches a key as services issue it. Surrounding quotes come from environment files that keep them. */
const KEY_PATTERN = /^[\x21\x23-\x26\x28-\x7e]([\x20-\x7e]*[\x21\x23-\x26\x28-\x7e])?$/;
/** Matches a token that `Authorization: Bearer` can carry: it ends at a space. */
const BEARER_TOKEN_PATTERN = /^[\x21-\x7e]+$/;

const UNREADABLE =
  'is no URL that can be read: in user and password write / as %2F, @ as %40, : as %3A, # as %23, ? as %3F and % as %25';
const isUnreadable = (error: unknown) =>
  error instanceof URIError ||
  (error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_URL');

const POSTGRES_SCHEMES = ['postgres:', 'postgresql:'];
/**
 * Reads the environment. A secret `NAME` may be in the file that `NAME_FILE` names.
 * @throws UsageError with every problem
 */
export function readEnvironment(env: NodeJS.ProcessEnv = process.env): Environment {
  const problems: string[] = [];
  const textOf = (name: VariableWith<'preset'>): string => readVariable(env, name) ?? VARIABLES[name].preset;
  const secret = (name: VariableWith<'secret'>, found = problems): string | undefined => {
    const file = readSecretFilePath(env, name);
    const value = readVariable(env, name);
    if (file === undefined) return value;
    if (value !== undefined) found.push(`${name}: set either ${name} or ${name}_FILE, not both`);
    try {
      return readInputFile(`${name}_FILE`, file).trim();
    } catch (error) {
      found.push(toErrorMessage(error));
      return undefined;
    }
  };
  /** @param read throws if the URL is invalid */
  const url = (
    name: VariableWith<'secret'>,
    protocols: readonly string[],
    read: (url: string) => unknown,
  ): string | undefined => {
    const value = secret(name);
    if (value === undefined) return undefined;
    const right = protocols.some((protocol) => value.startsWith(`${protocol}//`));
    if (!right) problems.push(`${name}: must start with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    else
      try {
        read(value);
      } catch (error) {
        problems.push(`${name}: ${isUnreadable(error) ? UNREADABLE : toErrorMessage(error)}`);
      }
    return value;
  };
  const portIn = (name: 'RECORDER_PORT' | 'RECORDER_PG_PORT', text: string, lowest: number): number => {
    const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
    if (!(port >= lowest && port <= 65_535))
      problems.push(`${name}: must be a port number from ${lowest} to 65535, not "${text}"`);
    return port;
  };
  const port = portIn('RECORDER_PORT', textOf('RECORDER_PORT'), 0);
  const pgPort = readVariable(env, 'RECORDER_PG_PORT');
  const logLevel = readVariable(env, 'LOG_LEVEL');
  if (logLevel !== undefined && !LOG_LEVELS.includes(logLevel))
    problems.push(`LOG_LEVEL: must be one of ${LOG_LEVELS.join(', ')}`);
  const logFormat = textOf('LOG_FORMAT');
  if (!LOG_FORMATS.includes(logFormat)) problems.push(`LOG_FORMAT: must be one of ${LOG_FORMATS.join(', ')}`);
  const key = (name: VariableWith<'secret'>): string | undefined => {
    const value = secret(name);
    if (value !== undefined && value.length < MIN_SECRET_LENGTH)
      problems.push(
        `${name}: is shorter than ${MIN_SECRET_LENGTH} characters: it could not be kept out of what is recorded`,
      );
    if (value !== undefined && !KEY_PATTERN.test(value))
      problems.push(
        `${name}: starts or ends with a quote or a space, or has characters that no header can carry: give the key alone`,
      );
    return value;
  };
  const signingKey = (name: VariableWith<'secret'>): KeyObject | undefined => {
    const pem = secret(name);
    if (pem === undefined) return undefined;
    try {
      const key = createPrivateKey(pem);
      if (key.asymmetricKeyType === 'ed25519') return key;
    } catch {
      // The error of OpenSSL is not helpful to users.
    }
    problems.push(
      `${name}: must be an ed25519 private key in PEM without a password: make one with "openssl genpkey -algorithm ed25519"`,
    );
    return undefined;
  };
  const s3Problems: string[] = [];
  const endpoint = readVariable(env, 'AWS_ENDPOINT_URL');
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
  if (token !== undefined && token.length < MIN_TOKEN_LENGTH)
    problems.push(
      `RECORDER_TOKEN: is shorter than ${MIN_TOKEN_LENGTH} characters and could be guessed: make one with "openssl rand -hex 16"`,
    );
  if (token !== undefined && !BEARER_TOKEN_PATTERN.test(token))
    problems.push(
      'RECORDER_TOKEN: has a space, a line break or another character that "Authorization: Bearer" cannot carry: give the token alone',
    );
  const databaseUrl = url('DATABASE_URL', POSTGRES_SCHEMES, parseDatabaseUrl);
  const environment = {
    databaseUrl,
    reportingUrl: url('REPORTING_DATABASE_URL', POSTGRES_SCHEMES, rejectSeveralServers),
    redisUrl: url('REDIS_URL', REDIS_SCHEMES, parseRedisUrl),
    pgPort: pgPort === undefined ? undefined : portIn('RECORDER_PG_PORT', pgPort, 1),
    stateHome: readVariable(env, 'XDG_STATE_HOME') ?? defaultStateHome(),
    host: textOf('RECORDER_HOST').replace(/^\[(.*)\]$/, '$1'),
    port,
    token,
    logLevel,
    logJson: logFormat === 'json',
    notifySocket: readVariable(env, 'NOTIFY_SOCKET'),
    watchdog: Number(readVariable(env, 'WATCHDOG_USEC')) / 1000 || undefined,
    plainTerminal: readVariable(env, 'TERM') === 'dumb',
    configFile: readVariable(env, 'RECORDER_CONFIG'),
    chainDataKey: key('CHAIN_DATA_API_KEY'),
    metricsKey: key('METRICS_API_KEY'),
    s3: {
      endpoint,
      region: readVariable(env, 'AWS_REGION') ?? (endpoint === undefined ? undefined : 'us-east-1'),
      keys: s3Keys(),
      problems: s3Problems,
    },
    sealKey: signingKey('SEAL_KEY'),
    otlp: parseOtlpSettings(
      (name) => (name === 'OTEL_EXPORTER_OTLP_HEADERS' ? secret(name) : readVariable(env, name)),
      problems,
    ),
  };
  const isDatabaseNamed = databaseUrl !== undefined || readSecretFilePath(env, 'DATABASE_URL') !== undefined;
  if (environment.reportingUrl !== undefined && !isDatabaseNamed)
    problems.push(
      'REPORTING_DATABASE_URL: is set without DATABASE_URL: the embedded PostgreSQL has no replica; name the primary in DATABASE_URL',
    );
  if (problems.length > 0) throw new UsageError(problems);
  return environment;
}

/**
 * Returns the default folder of the XDG specification. Returns null if HOME is not set and the system has no
 * entry of this user.
 */
function defaultStateHome(): string | null {
  try {
    return join(homedir(), '.local', 'state');
  } catch {
    return null;
  }
}

/**
 * Rejects URLs with several servers, because reads would switch between them without notice.
 * @throws Error if a URL names several servers
 */
function rejectSeveralServers(url: string): void {
  if (parseDatabaseUrl(url).places.length > 1)
    throw new Error('names several servers: name one replica, or a load balancer in front of the replicas');
}

/**
 * Reads the environment without its invalid variables and those that depend on them, such as the replica of a
 * database. Returns every problem, too.
 */
export function readValidEnvironment(env: NodeJS.ProcessEnv = process.env): {
  environment: Environment;
  problems: readonly string[];
} {
  try {
    return { environment: readEnvironment(env), problems: [] };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const wrong = error.problems.map((problem) => problem.replace(/(_FILE)?:.*$/s, ''));
    const sound = Object.entries(env).filter(([name]) => !wrong.includes(name.replace(/_FILE$/, '')));
    return {
      environment: readValidEnvironment(Object.fromEntries(sound)).environment,
      problems: error.problems,
    };
  }
}
