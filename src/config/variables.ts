import { readInputFile } from '../lib/read-input-file.ts';
import { MIN_SECRET_LENGTH } from '../lib/redaction.ts';
import { OTLP_VARIABLES } from './otlp.ts';

/** Minimum length of a token, in characters. A shorter one could be guessed. */
export const MIN_TOKEN_LENGTH = 16;
export const LOG_FORMATS = ['json', 'text'];
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** An environment variable, as documented in docs/settings.md. */
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
      'PostgreSQL: postgres://user:password@host:port/database, or a primary and its standbys as host:port,host:port. ?host=/run/postgresql names the folder of a socket. ?sslmode=require encrypts, ?sslmode=verify-full also looks at the certificate (authorities of your own: NODE_EXTRA_CA_CERTS). ?options=-c%20NAME%3DVALUE sets something of each session. It is read as libpq reads it; PGHOST and its kind are not read.',
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
    about: 'The port that the embedded PostgreSQL listens on, on 127.0.0.1, 1 to 65535.',
    absent: 'the same free one at every start',
  },
  RECORDER_PORT: {
    about: 'The port that the HTTP server listens on, 0 to 65535; 0: any free one.',
    preset: '8080',
  },
  RECORDER_TOKEN: {
    about: `Opens the pages, the API and /metrics, as \`Authorization: Bearer TOKEN\` or in the form that the pages show; ${MIN_TOKEN_LENGTH} characters or more, without spaces.`,
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
    about: `The key of the chain data service, sent in upstreams.chainData.apiKeyHeader; ${MIN_SECRET_LENGTH} characters or more.`,
    absent: 'no key is sent',
    secret: true,
  },
  METRICS_API_KEY: {
    about: `The key of the metrics service, sent in upstreams.metrics.apiKeyHeader; ${MIN_SECRET_LENGTH} characters or more.`,
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

/** Names of the variables with a property, such as `secret`. */
export type VariableWith<Property extends string> = {
  [Name in keyof Variables]: Property extends keyof Variables[Name] ? Name : never;
}[keyof Variables];

/** Returns the value of a variable. Empty variables count as not set. */
export const readVariable = (env: NodeJS.ProcessEnv, name: keyof Variables): string | undefined =>
  env[name] || undefined;

/** Returns the path of the file that contains a secret, if one is named. */
export const readSecretFilePath = (
  env: NodeJS.ProcessEnv,
  name: VariableWith<'secret'>,
): string | undefined => env[`${name}_FILE`] || undefined;

/**
 * Returns a secret from the environment or from the file that `NAME_FILE` names. Returns undefined if it is
 * not set or unreadable.
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
