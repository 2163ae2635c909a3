import { readInputFile } from '../lib/read-input-file.ts';
import { MIN_SECRET_LENGTH } from '../lib/redaction.ts';
import { OTLP_VARIABLES } from './otlp.ts';

/** Minimum length of a token, in characters. A shorter token could be guessed. */
export const MIN_TOKEN_LENGTH = 16;
export const LOG_FORMATS = ['json', 'text'];
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** An environment variable, as documented in docs/reference/settings.md. */
export interface Variable {
  readonly about: string;
  /** Default value. */
  readonly preset?: string;
  /** Description of the behaviour without a value, for variables without a default. */
  readonly absent?: string;
  /** Valid values. Absent: see {@link about}. */
  readonly values?: readonly string[];
  /** Set if the variable is secret: `NAME_FILE` may name a file with its value. */
  readonly secret?: true;
}

/** Every variable that the recorder reads. */
export const VARIABLES = {
  DATABASE_URL: {
    about:
      'PostgreSQL: postgres://user:password@host:port/database, or a primary and its standbys as host:port,host:port. ?host=/run/postgresql names the folder of a socket. ?sslmode=require encrypts, ?sslmode=verify-full also verifies the certificate (additional authorities: NODE_EXTRA_CA_CERTS). ?options=-c%20NAME%3DVALUE sets a parameter of each session. The syntax is that of libpq; PGHOST and similar variables are ignored.',
    absent: 'an embedded PostgreSQL in .recorder/',
    secret: true,
  },
  REPORTING_DATABASE_URL: {
    about:
      'A replica (streaming standby) of the PostgreSQL in DATABASE_URL, one server. Pages, the API, query, report and export read it, so that the primary only records: docs/how-to/deploy.md.',
    absent: 'DATABASE_URL',
    secret: true,
  },
  REDIS_URL: {
    about:
      'Redis or Valkey for the queue: redis://host:port; a cluster (some of its nodes), redis-cluster://host:port,host:port; sentinels, redis-sentinel://host:port,host:port/name. With TLS: rediss://, rediss-cluster://, rediss-sentinel://.',
    absent: 'the queue is in PostgreSQL',
    secret: true,
  },
  RECORDER_HOST: {
    about:
      'Address that the HTTP server listens on. An address other than loopback requires RECORDER_TOKEN or a proxy in `server.trustedProxies`.',
    preset: '127.0.0.1',
  },
  RECORDER_PG_PORT: {
    about: 'Port of the embedded PostgreSQL on 127.0.0.1, 1 to 65535.',
    absent: 'a free port, the same at every start',
  },
  RECORDER_PORT: {
    about: 'Port of the HTTP server, 0 to 65535; 0: any free port.',
    preset: '8080',
  },
  RECORDER_TOKEN: {
    about: `Token for the pages, the API and /metrics, as \`Authorization: Bearer TOKEN\` or in the login form; ${MIN_TOKEN_LENGTH} characters or more, without spaces.`,
    absent: 'no authentication',
    secret: true,
  },
  RECORDER_CONFIG: {
    about: 'Configuration file, if --config is not given.',
    absent: 'recorder.yaml in the working directory; if there is none, the sandbox is recorded',
  },
  XDG_STATE_HOME: {
    about: 'Folder for the list of directories with records, in chain-recorder/.',
    absent: '~/.local/state',
  },
  LOG_LEVEL: {
    about: 'Minimum level of log lines.',
    absent: 'info for up, warn for the other commands',
    values: LOG_LEVELS,
  },
  LOG_FORMAT: {
    about: 'Format of logs on a terminal. Elsewhere every line is JSON.',
    preset: 'text',
    values: LOG_FORMATS,
  },
  NOTIFY_SOCKET: {
    about:
      'Set by systemd for a service of `Type=notify`: `up` sends its state (ready, stopping, reloading) to this socket.',
    absent: 'no notification',
  },
  WATCHDOG_USEC: {
    about: 'Set by systemd if the unit has WatchdogSec: interval of the watchdog, in microseconds.',
    absent: 'no watchdog',
  },
  TERM: {
    about: 'Type of the terminal. `dumb`: `up` prints lines only, without a live summary.',
    absent: 'a terminal with cursor control',
  },
  CHAIN_DATA_API_KEY: {
    about: `API key of the chain data service, sent in the header upstreams.chainData.apiKeyHeader; ${MIN_SECRET_LENGTH} characters or more.`,
    absent: 'no key is sent',
    secret: true,
  },
  METRICS_API_KEY: {
    about: `API key of the metrics service, sent in the header upstreams.metrics.apiKeyHeader; ${MIN_SECRET_LENGTH} characters or more.`,
    absent: 'no key is sent',
    secret: true,
  },
  AWS_ACCESS_KEY_ID: {
    about: 'Access key id for S3.',
    absent: 'the default credential chain of AWS: profiles, roles',
    secret: true,
  },
  AWS_SECRET_ACCESS_KEY: {
    about: 'Secret access key for S3.',
    absent: 'as for AWS_ACCESS_KEY_ID',
    secret: true,
  },
  AWS_SESSION_TOKEN: {
    about: 'Session token of temporary keys.',
    absent: 'none',
    secret: true,
  },
  AWS_REGION: {
    about: 'Region of the bucket.',
    absent: 'the default of AWS; us-east-1 if AWS_ENDPOINT_URL is set',
  },
  AWS_ENDPOINT_URL: {
    about: 'URL of an S3 service other than AWS: http or https.',
    absent: 'AWS',
  },
  SEAL_KEY: {
    about: 'Private key (ed25519, PEM, without a password) that signs seals.',
    absent: 'seals are not signed',
    secret: true,
  },
  ...OTLP_VARIABLES,
} as const satisfies Readonly<Record<string, Variable>>;

type Variables = typeof VARIABLES;

/** Names of the variables with a property, such as `secret`. */
export type VariableWith<Property extends string> = {
  [Name in keyof Variables]: Property extends keyof Variables[Name] ? Name : never;
}[keyof Variables];

/** Returns the value of a variable. Empty variables count as not set. */
export const readVariable = (env: NodeJS.ProcessEnv, name: keyof Variables): string | undefined =>
  env[name] || undefined;

/** Returns the path of the file that contains a secret; undefined if `NAME_FILE` is not set. */
export const readSecretFilePath = (
  env: NodeJS.ProcessEnv,
  name: VariableWith<'secret'>,
): string | undefined => env[`${name}_FILE`] || undefined;

/**
 * Returns a secret from the environment or from the file that `NAME_FILE` names. Returns undefined if the
 * secret is not set or unreadable.
 */
export function readSecret(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const file = env[`${name}_FILE`];
  if (!file) return env[name] || undefined;
  try {
    return readInputFile(`${name}_FILE`, file).trim() || undefined;
  } catch {
    return undefined;
  }
}
