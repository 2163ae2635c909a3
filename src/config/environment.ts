import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { messageOf, UsageError } from '../errors.ts';
import { SHORTEST_SECRET } from '../redaction.ts';
import { serverUrls } from './database-url.ts';

/** What the recorder takes from its environment (contract section 2). The only reader of `process.env`. */
export interface Environment {
  /** One server or several, of which one takes writes. Undefined: embedded PostgreSQL. */
  readonly databaseUrl: string | undefined;
  /** Undefined: the queue lives in PostgreSQL. */
  readonly redisUrl: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly logLevel: string;
  /** Logs are lines of JSON, even on a terminal. */
  readonly logJson: boolean;
  readonly configFile: string | undefined;
  readonly chainDataKey: string | undefined;
  readonly metricsKey: string | undefined;
  /** Signs seals: ed25519. Undefined: they are not signed. */
  readonly sealKey: KeyObject | undefined;
}

const LOG_FORMATS = ['json', 'text'];
const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/**
 * Reads the environment; a secret `NAME` may come from the file that `NAME_FILE` names.
 * @throws UsageError when something is wrong: every problem
 */
export function readEnvironment(env: NodeJS.ProcessEnv = process.env): Environment {
  const problems: string[] = [];
  const secret = (name: string): string | undefined => {
    const file = env[`${name}_FILE`];
    if (!file) return env[name] || undefined;
    if (env[name]) problems.push(`${name}: set either ${name} or ${name}_FILE, not both`);
    try {
      return readFileSync(file, 'utf8').trim();
    } catch (error) {
      problems.push(`${name}_FILE: ${messageOf(error)}`);
      return undefined;
    }
  };
  const url = (name: string, protocols: readonly string[]): string | undefined => {
    const value = secret(name);
    if (value === undefined) return undefined;
    if (!protocolsOf(value).every((protocol) => protocols.includes(protocol)))
      problems.push(`${name}: must begin with ${protocols.map((p) => `${p}//`).join(' or ')}`);
    return value;
  };
  const portText = env.RECORDER_PORT || '8080';
  const port = /^\d{1,5}$/.test(portText) ? Number(portText) : Number.NaN;
  if (!(port <= 65_535)) problems.push(`RECORDER_PORT: must be a port number, not "${env.RECORDER_PORT}"`);
  const logLevel = env.LOG_LEVEL || 'info';
  if (!LOG_LEVELS.includes(logLevel)) problems.push(`LOG_LEVEL: must be one of ${LOG_LEVELS.join(', ')}`);
  const logFormat = env.LOG_FORMAT || 'text';
  if (!LOG_FORMATS.includes(logFormat)) problems.push(`LOG_FORMAT: must be one of ${LOG_FORMATS.join(', ')}`);
  const key = (name: string): string | undefined => {
    const value = secret(name);
    if (value !== undefined && value.length < SHORTEST_SECRET)
      problems.push(
        `${name}: is shorter than ${SHORTEST_SECRET} characters: it could not be kept out of what is recorded`,
      );
    return value;
  };
  const signingKey = (name: string): KeyObject | undefined => {
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
  const environment = {
    databaseUrl: url('DATABASE_URL', ['postgres:', 'postgresql:']),
    redisUrl: url('REDIS_URL', ['redis:', 'rediss:']),
    host: env.RECORDER_HOST || '127.0.0.1',
    port,
    logLevel,
    logJson: logFormat === 'json',
    configFile: env.RECORDER_CONFIG || undefined,
    chainDataKey: key('CHAIN_DATA_API_KEY'),
    metricsKey: key('METRICS_API_KEY'),
    sealKey: signingKey('SEAL_KEY'),
  };
  if (problems.length > 0) throw new UsageError(problems);
  return environment;
}

function protocolsOf(url: string): string[] {
  try {
    return serverUrls(url).map((one) => new URL(one).protocol);
  } catch {
    return ['none'];
  }
}

/** `scheme://user:password@host/database`, and passwords among a URL's parameters. */
const PASSWORD_IN_URL = /:\/\/([^/?#@:]*):([^/?#@]*)@[^/?#]*\/?([^?#]*)|[?&](?:ssl)?password=([^&#]*)/g;

/**
 * The secrets of the environment, which must not be in a log or an error. It works when other variables are invalid, too.
 * A password that equals the name of its user or database does not count as a secret.
 */
export function readSecrets(env: NodeJS.ProcessEnv = process.env): string[] {
  const value = (name: string) => {
    try {
      const file = env[`${name}_FILE`];
      return file ? readFileSync(file, 'utf8').trim() : env[name];
    } catch {
      return undefined; // readEnvironment reports it
    }
  };
  const passwords = ['DATABASE_URL', 'REDIS_URL'].flatMap((name) =>
    [...(value(name) ?? '').matchAll(PASSWORD_IN_URL)].map(([, user, password, database, parameter]) =>
      password !== user && password !== database ? password : parameter,
    ),
  );
  // Of the lines of a PEM those that say something.
  const pem = (value('SEAL_KEY') ?? '').split(/\s+/).filter((line) => /^[\w+/=]{32,}$/.test(line));
  return ['CHAIN_DATA_API_KEY', 'METRICS_API_KEY']
    .map(value)
    .concat(pem)
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
