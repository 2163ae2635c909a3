import { createPrivateKey, type KeyObject } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { messageOf, UsageError } from '../lib/errors.ts';
import { readGivenFile } from '../lib/read-input-file.ts';
import { SHORTEST_SECRET } from '../lib/redaction.ts';
import { databasePlace } from './database-url.ts';
import { type OtlpSettings, otlpSettings } from './otlp.ts';
import { REDIS_SCHEMES, redisPlace } from './redis-url.ts';
import {
  fileIn,
  type Having,
  LOG_FORMATS,
  LOG_LEVELS,
  SHORTEST_TOKEN,
  textIn,
  VARIABLES,
} from './variables.ts';

/** What the recorder takes from its environment (contract section 2). Nothing outside of `src/config` reads `process.env`. */
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
  /** Where programs keep what they remember of this user; null: the user has no home. */
  readonly stateHome: string | null;
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
/** A key as services give it. Quotes around it come from files of variables that keep them. */
const SENT_AS_IT_IS = /^[\x21\x23-\x26\x28-\x7e]([\x20-\x7e]*[\x21\x23-\x26\x28-\x7e])?$/;
/** A token that `Authorization: Bearer` can carry: what comes behind a space is no part of it. */
const SENT_AS_BEARER = /^[\x21-\x7e]+$/;

const UNREADABLE =
  'is no URL that can be read: in user and password write / as %2F, @ as %40, : as %3A, # as %23, ? as %3F and % as %25';
const isUnreadable = (error: unknown) =>
  error instanceof URIError ||
  (error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_URL');

const POSTGRES_SCHEMES = ['postgres:', 'postgresql:'];
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
      return readGivenFile(`${name}_FILE`, file).trim();
    } catch (error) {
      found.push(messageOf(error));
      return undefined;
    }
  };
  /** @param read throws where the URL names nothing that can be used */
  const url = (
    name: Having<'secret'>,
    protocols: readonly string[],
    read: (url: string) => unknown,
  ): string | undefined => {
    const value = secret(name);
    if (value === undefined) return undefined;
    const right = protocols.some((protocol) => value.startsWith(`${protocol}//`));
    if (!right) problems.push(`${name}: must begin with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    else
      try {
        read(value);
      } catch (error) {
        problems.push(`${name}: ${isUnreadable(error) ? UNREADABLE : messageOf(error)}`);
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
  if (token !== undefined && !SENT_AS_BEARER.test(token))
    problems.push(
      'RECORDER_TOKEN: has a space, a line break or another character that "Authorization: Bearer" cannot carry: give the token alone',
    );
  const databaseUrl = url('DATABASE_URL', POSTGRES_SCHEMES, databasePlace);
  const environment = {
    databaseUrl,
    reportingUrl: url('REPORTING_DATABASE_URL', POSTGRES_SCHEMES, oneDatabase),
    redisUrl: url('REDIS_URL', REDIS_SCHEMES, redisPlace),
    pgPort: pgPort === undefined ? undefined : portIn('RECORDER_PG_PORT', pgPort, 1),
    stateHome: textIn(env, 'XDG_STATE_HOME') ?? defaultStateHome(),
    host: textOf('RECORDER_HOST').replace(/^\[(.*)\]$/, '$1'),
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
  const isDatabaseNamed = databaseUrl !== undefined || fileIn(env, 'DATABASE_URL') !== undefined;
  if (environment.reportingUrl !== undefined && !isDatabaseNamed)
    problems.push(
      'REPORTING_DATABASE_URL: is set without DATABASE_URL: the embedded PostgreSQL has no replica; name the primary in DATABASE_URL',
    );
  if (problems.length > 0) throw new UsageError(problems);
  return environment;
}

/** The folder of the XDG specification; null where HOME is not set and the system has no entry of this user. */
function defaultStateHome(): string | null {
  try {
    return join(homedir(), '.local', 'state');
  } catch {
    return null;
  }
}

/** @throws Error when a URL names several servers: which of them is read would change without notice */
function oneDatabase(url: string): void {
  if (databasePlace(url).places.length > 1)
    throw new Error('names several servers: name one replica, or what divides connections among replicas');
}

/** The environment without what is wrong in it and what goes with that, such as the replica of a database; and every problem. */
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
    return { environment: soundEnvironment(Object.fromEntries(sound)).environment, problems: error.problems };
  }
}
