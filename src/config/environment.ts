import type { KeyObject } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../lib/errors.ts';
import { parseDatabaseUrl } from './database-url.ts';
import { type OtlpSettings, parseOtlpSettings } from './otlp.ts';
import { parseRedisUrl, REDIS_SCHEMES } from './redis-url.ts';
import { VariableReader } from './variable-reader.ts';
import { LOG_FORMATS, LOG_LEVELS, readSecretFilePath } from './variables.ts';

/** Settings from the environment. Only `src/config` reads `process.env`. */
export interface Environment {
  /** URL of one server, or of several of which one is writable. Undefined: embedded PostgreSQL. */
  readonly databaseUrl: string | undefined;
  /** URL of a read replica. Undefined: there is no replica. */
  readonly reportingUrl: string | undefined;
  /** URL of the Redis for the queue. Undefined: the queue is in PostgreSQL. */
  readonly redisUrl: string | undefined;
  /** Port of the embedded PostgreSQL. Undefined: the port of its first start. */
  readonly pgPort: number | undefined;
  readonly host: string;
  readonly port: number;
  /** Token that HTTP clients must send. Undefined: no token is needed. */
  readonly token: string | undefined;
  /** Minimum level of log lines. Undefined: the default of the command. */
  readonly logLevel: string | undefined;
  /** True if the log is JSON lines, even on a terminal. */
  readonly logJson: boolean;
  /** True if the terminal cannot move the cursor. */
  readonly plainTerminal: boolean;
  readonly configFile: string | undefined;
  /** Folder for the state of this user's programs (XDG_STATE_HOME); null if the user has no home. */
  readonly stateHome: string | null;
  /** Notify socket of systemd. Undefined: systemd set no socket. */
  readonly notifySocket: string | undefined;
  /** Watchdog timeout after which systemd restarts the service, in ms. Undefined: there is no watchdog. */
  readonly watchdog: number | undefined;
  readonly chainDataKey: string | undefined;
  readonly metricsKey: string | undefined;
  /** Access to S3 for exports. */
  readonly s3: {
    /** URL of the S3 service. Undefined: AWS's own endpoint. */
    readonly endpoint: string | undefined;
    readonly region: string | undefined;
    /** Access keys. Undefined: the keys are resolved as AWS's own programs do. */
    readonly keys:
      | { readonly id: string; readonly secret: string; readonly session: string | undefined }
      | undefined;
    /** Problems of these variables, which other programs share. Reported only when S3 is used. */
    readonly problems: readonly string[];
  };
  /** Private key for signing seals: ed25519. Undefined: seals are not signed. */
  readonly sealKey: KeyObject | undefined;
  /** Destination of traces and logs. Undefined: neither is exported. */
  readonly otlp: OtlpSettings | undefined;
}

const POSTGRES_SCHEMES = ['postgres:', 'postgresql:'];

/**
 * Reads the environment. A secret `NAME` may be in the file that `NAME_FILE` names.
 * @throws UsageError with every problem
 */
export function readEnvironment(env: NodeJS.ProcessEnv = process.env): Environment {
  const reader = new VariableReader(env);
  const pgPort = reader.text('RECORDER_PG_PORT');
  const environment = {
    databaseUrl: reader.url('DATABASE_URL', POSTGRES_SCHEMES, parseDatabaseUrl),
    reportingUrl: reader.url('REPORTING_DATABASE_URL', POSTGRES_SCHEMES, rejectSeveralServers),
    redisUrl: reader.url('REDIS_URL', REDIS_SCHEMES, parseRedisUrl),
    pgPort: pgPort === undefined ? undefined : reader.port('RECORDER_PG_PORT', pgPort, 1),
    stateHome: reader.text('XDG_STATE_HOME') ?? defaultStateHome(),
    host: reader.preset('RECORDER_HOST').replace(/^\[(.*)\]$/, '$1'),
    port: reader.port('RECORDER_PORT', reader.preset('RECORDER_PORT'), 0),
    token: reader.token('RECORDER_TOKEN'),
    logLevel: reader.oneOf('LOG_LEVEL', LOG_LEVELS),
    logJson: reader.oneOf('LOG_FORMAT', LOG_FORMATS) === 'json',
    notifySocket: reader.text('NOTIFY_SOCKET'),
    watchdog: Number(reader.text('WATCHDOG_USEC')) / 1000 || undefined,
    plainTerminal: reader.text('TERM') === 'dumb',
    configFile: reader.text('RECORDER_CONFIG'),
    chainDataKey: reader.apiKey('CHAIN_DATA_API_KEY'),
    metricsKey: reader.apiKey('METRICS_API_KEY'),
    s3: readS3(reader),
    sealKey: reader.signingKey('SEAL_KEY'),
    otlp: parseOtlpSettings(
      (name) => (name === 'OTEL_EXPORTER_OTLP_HEADERS' ? reader.secret(name) : reader.text(name)),
      reader.problems,
    ),
  };
  const isDatabaseNamed =
    environment.databaseUrl !== undefined || readSecretFilePath(env, 'DATABASE_URL') !== undefined;
  if (environment.reportingUrl !== undefined && !isDatabaseNamed)
    reader.problems.push(
      'REPORTING_DATABASE_URL: is set without DATABASE_URL: the embedded PostgreSQL has no replica; set DATABASE_URL to the primary',
    );
  if (reader.problems.length > 0) throw new UsageError(reader.problems);
  return environment;
}

/**
 * Reads the access to S3. Other programs share these variables, so their problems are returned separately.
 */
function readS3(reader: VariableReader): Environment['s3'] {
  const problems: string[] = [];
  const endpoint = reader.text('AWS_ENDPOINT_URL');
  if (endpoint !== undefined && !/^https?:$/.test(URL.canParse(endpoint) ? new URL(endpoint).protocol : ''))
    problems.push('AWS_ENDPOINT_URL: must be an http or https URL');
  const id = reader.secret('AWS_ACCESS_KEY_ID', problems);
  const secret = reader.secret('AWS_SECRET_ACCESS_KEY', problems);
  const session = reader.secret('AWS_SESSION_TOKEN', problems);
  if ((id === undefined) !== (secret === undefined))
    problems.push('AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY: set both, or none of them');
  return {
    endpoint,
    region: reader.text('AWS_REGION') ?? (endpoint === undefined ? undefined : 'us-east-1'),
    keys: id !== undefined && secret !== undefined ? { id, secret, session } : undefined,
    problems,
  };
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
 * @throws Error if a URL contains several servers
 */
function rejectSeveralServers(url: string): void {
  if (parseDatabaseUrl(url).places.length > 1)
    throw new Error(
      'contains several servers: write one replica, or a load balancer in front of the replicas',
    );
}

/**
 * Reads the environment without its invalid variables and without variables that depend on these, such as the
 * replica of a database. Also returns every problem.
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
