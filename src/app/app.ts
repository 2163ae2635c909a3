import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Environment, readEnvironment } from '../config/environment.ts';
import { loadConfig } from '../config/load.ts';
import { collectTexts, readReferencedSecrets } from '../config/named-secrets.ts';
import type { Config } from '../config/schema.ts';
import { readSecrets, secretsByName } from '../config/secrets.ts';
import { formatSession, type LockingSession } from '../db/blocking-sessions.ts';
import type { BudgetKey } from '../db/budget-key.ts';
import { type Database, openDatabase } from '../db/client.ts';
import { refusePoolerAt } from '../db/detect-pooler.ts';
import { openEmbedded } from '../db/embedded/embedded.ts';
import { withDatabaseDiagnosis } from '../db/examine-database.ts';
import { schemaProblem } from '../db/migrate.ts';
import { Replica } from '../db/replica.ts';
import { waitUntilReachable } from '../db/wait-until-reachable.ts';
import type { ActiveLedger } from '../health/node-health.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { UsageError } from '../lib/errors.ts';
import { createRedactor } from '../lib/redaction.ts';
import type { RunInSpan } from '../lib/trace.ts';
import type { ActiveFeed, ConfiguredFeed } from '../recording/active-feed.ts';
import { type Configuration, createConfiguration } from '../recording/configuration.ts';
import type { RecordingContext } from '../recording/context.ts';
import { migrate } from '../reporting/views/migrate.ts';
import { ProcessCounts } from '../server/metrics/process-counts.ts';
import { type Log, linesLost, openLog } from '../telemetry/log.ts';
import { type Announcement, sandboxConfig, useSandbox } from './bundled-sandbox.ts';
import { activeFeeds, activeLedgers, catalogNames } from './configured-feeds.ts';
import { rememberRecord } from './known-records.ts';
import { existingStateDirectory, ownStateDirectory } from './state-directory.ts';
import { budgetKeys, createUpstreamOpener } from './upstream-opener.ts';

/** Context of a command: configuration, database and upstreams, opened. */
export interface App {
  readonly environment: Environment;
  readonly config: Config;
  /** Path of the configuration file; null if there is none. */
  readonly configFile: string | null;
  /**
   * Announcement of the bundled sandbox network, which is the upstream while no configuration file exists;
   * otherwise null.
   */
  readonly sandbox: Announcement | null;
  readonly log: Log;
  readonly clock: Clock;
  readonly databaseUrl: string;
  /** True if the database is the embedded one and its process ids are valid on this system. */
  readonly embedded: boolean;
  /**
   * Restarts the embedded database whenever it exits, until the signal aborts.
   * @throws TemporaryError if a restart fails
   */
  readonly superviseDatabase: (signal: AbortSignal) => Promise<void>;
  /** Data folder of the embedded database; null if the database is not embedded. */
  readonly embeddedDirectory: string | null;
  readonly database: Database;
  /** Read replica for queries; null if queries use the database itself. */
  readonly replica: Replica | null;
  /** Feeds that runs record. */
  readonly feeds: readonly ActiveFeed[];
  /** Uptime ledgers of the prober: one, or none. */
  readonly ledgers: readonly ActiveLedger[];
  /** Feeds and ledgers: everything that is registered, planned and counted. */
  readonly watched: readonly ConfiguredFeed[];
  readonly configuration: Configuration;
  readonly recording: RecordingContext;
  /** Counters of this process: upstream calls and runs. */
  readonly counts: ProcessCounts;
  /** Records work as spans of traces; null if there is no endpoint for traces. */
  readonly traced: RunInSpan | null;
  /** Keys of the request budgets of the configured services. */
  readonly budgets: readonly BudgetKey[];
  /** Secrets by their names. */
  readonly secrets: ReadonlyMap<string, string>;
  /**
   * Returns the same application with another configuration and the current secrets. Resources that both use
   * stay open.
   * @throws UsageError if the environment is invalid now
   */
  reconfigured(config: Config): App;
  close(): Promise<void>;
}

/** Options for opening the application. */
export interface AppOptions {
  readonly config?: string | undefined;
  /** Migrate the schema first: `up` and `migrate`. The embedded database is always migrated. */
  readonly migrate?: boolean;
  /** Use a temporary database if this directory has no record: `plan` and `alerts test`. */
  readonly createsNothing?: boolean;
  /** Wait for an unreachable database until this signal aborts. Default: fail. */
  readonly waitSignal?: AbortSignal;
  /** Aborts a migration immediately. */
  readonly signal?: AbortSignal;
  /** Log level if LOG_LEVEL is not set. Default: `warn`, so that the result of a command comes first. */
  readonly logLevel?: 'info';
  /** Export traces and logs if the environment sets an endpoint for them. */
  readonly telemetry?: boolean;
  /** Loads modules that are needed later, concurrently with the migration of the schema. */
  readonly load?: () => Promise<unknown>;
  readonly clock?: Clock;
}

const DEFAULT_FILE = 'recorder.yaml';
const MISTAKEN_FILES = ['recorder.yml', 'recorder.yaml.txt', 'chain-recorder.yaml', 'chain-recorder.yml'];

/**
 * Opens configuration, database and upstreams.
 * @throws UsageError if the configuration, the environment or the database is invalid
 */
export async function openApp(options: AppOptions): Promise<App> {
  const environment = readEnvironment();
  const { logLevel = options.logLevel ?? 'warn', logJson } = environment;
  const clock = options.clock ?? systemClock;
  const file = findConfigFile(environment, options.config);
  const state = options.createsNothing
    ? await existingStateDirectory(environment.databaseUrl)
    : ownStateDirectory();
  const stateDirectory = state.path;
  const fromFile = file === null ? null : loadConfig(file, catalogNames);
  const telemetry =
    options.telemetry && environment.otlp
      ? await (await import('../telemetry/telemetry.ts')).openTelemetry(environment.otlp, (signal, cause) =>
          logEndpointState(log, signal, cause),
        )
      : null;
  // Secrets that alert channels and change sinks reference are redacted in the log, too. A secret stays
  // redacted after a reload, because the log reports differences from the previous configuration.
  const secrets = new Set<string>();
  let redact = createRedactor([]);
  const keepSecret = (config: Config | null) => {
    const named = readReferencedSecrets(getSecretReferences(config)).values;
    for (const one of [...readSecrets(), ...named]) secrets.add(one);
    redact = createRedactor([...secrets]);
    telemetry?.redactBy(redact);
  };
  keepSecret(fromFile);
  const log = openLog({ logLevel, logJson }, (text) => redact(text), telemetry?.line);
  const closers: (() => Promise<void>)[] = [state.close, ...(telemetry ? [() => telemetry.close()] : [])];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    if (!fromFile) log.info('starting the bundled sandbox network');
    const sandbox = fromFile ? null : await useSandbox(stateDirectory);
    if (sandbox) closers.push(() => sandbox.close());
    const embedded = environment.databaseUrl
      ? null
      : await openEmbedded({ dir: stateDirectory, log, port: environment.pgPort });
    if (embedded) {
      closers.push(() => embedded.close());
      const two = state.isTemporary
        ? null
        : rememberRecord(stateDirectory, embedded.made, environment.stateHome);
      if (two)
        log.warn(
          two,
          'this directory had no record: a new, empty one was made; the last one is in another directory: to continue with it, run chain-recorder there',
        );
    }
    const databaseUrl = environment.databaseUrl ?? embedded?.url ?? '';
    const database = await withDatabaseDiagnosis(databaseUrl, async () => {
      if (options.waitSignal)
        await waitUntilReachable(databaseUrl, options.waitSignal, (cause) =>
          log.warn({ cause }, 'the database cannot be reached: waiting for it'),
        );
      else if (environment.databaseUrl) await refusePoolerAt(databaseUrl, 'DATABASE_URL');
      const migrating =
        options.migrate || embedded
          ? migrate(databaseUrl, {
              signal: options.signal,
              blocked: (sessions) => logBlockedMigration(log, sessions),
            })
          : [];
      if (options.migrate) log.info('migrating the schema of the database, and loading the pages');
      const [told] = await Promise.all([migrating, options.load?.()]);
      for (const sentence of told) log.warn(sentence);
      const opened = openDatabase(databaseUrl);
      closers.push(() => opened.close());
      const problem = await schemaProblem(opened.sql);
      if (problem) throw new UsageError([`DATABASE_URL: ${problem}`]);
      return opened;
    }).catch(async (error: unknown) => {
      throw (await embedded?.explainFailure(error)) ?? error;
    });
    const replica = environment.reportingUrl ? new Replica(environment.reportingUrl) : null;
    if (replica) closers.push(() => replica.close());
    const counts = new ProcessCounts(linesLost);
    const parts = {
      environment,
      configFile: file,
      sandbox: sandbox?.announcement ?? null,
      log,
      keepSecret,
      clock,
      databaseUrl,
      embedded: embedded?.ownNamespace ?? false,
      superviseDatabase: async (signal: AbortSignal) => embedded?.supervise(signal),
      embeddedDirectory: embedded ? join(stateDirectory, 'postgres') : null,
      database,
      replica,
      counts,
      traced: telemetry?.traced ?? null,
      close,
    };
    return buildApp(parts, fromFile ?? sandboxConfig(sandbox?.announcement ?? noSandbox()));
  } catch (error) {
    await close();
    throw error;
  }
}

type AppResources = Pick<
  App,
  | 'environment'
  | 'configFile'
  | 'sandbox'
  | 'log'
  | 'clock'
  | 'databaseUrl'
  | 'embedded'
  | 'superviseDatabase'
  | 'embeddedDirectory'
  | 'database'
  | 'replica'
  | 'counts'
  | 'traced'
  | 'close'
> & {
  /** Redacts the secrets that a configuration references, in all later log lines. */
  keepSecret(config: Config): void;
};

/** Builds the application of a configuration from the open resources. */
function buildApp(parts: AppResources, config: Config): App {
  const { environment, database, clock, counts, traced } = parts;
  const feeds = activeFeeds(config);
  const ledgers = activeLedgers(config);
  const watched = [...feeds, ...ledgers];
  return {
    ...parts,
    config,
    feeds,
    ledgers,
    watched,
    configuration: createConfiguration(config, watched),
    secrets: secretsByName(getSecretReferences(config)),
    recording: {
      sql: database.sql,
      commits: database.commits,
      clock,
      worker: `${hostname()}/${process.pid}`,
      open: createUpstreamOpener(config, environment, database.sql, clock, counts),
      ...(traced && { traced }),
    },
    budgets: budgetKeys(config, environment),
    reconfigured: (other) => {
      parts.keepSecret(other);
      const { databaseUrl, reportingUrl, otlp } = environment; // open resources keep using these
      return buildApp(
        { ...parts, environment: { ...readEnvironment(), databaseUrl, reportingUrl, otlp } },
        other,
      );
    },
  };
}

/** Secrets whose changes need a restart: the process keeps the values from its start. */
export const STARTUP_SECRETS = ['DATABASE_URL', 'REPORTING_DATABASE_URL', 'OTEL_EXPORTER_OTLP_HEADERS'];

/** Returns the texts of a configuration that may reference secrets of the environment. */
const getSecretReferences = (config: Config | null) => collectTexts([config?.alerts, config?.changes]);

/**
 * Returns the path of the configuration file. Returns null if none is named and the default file is absent.
 * @throws UsageError if the name is empty, or a file has a name that was probably a mistake for the default
 * one
 */
export function findConfigFile(environment: Environment, named: string | undefined): string | null {
  const file = named ?? environment.configFile;
  if (file === '') throw new UsageError(['--config: names no file']);
  if (file !== undefined) return file;
  if (existsSync(DEFAULT_FILE)) return join('.', DEFAULT_FILE);
  const meant = MISTAKEN_FILES.find((one) => existsSync(one));
  if (meant !== undefined)
    throw new UsageError([`${meant}: is not read: rename it to ${DEFAULT_FILE}, or name it with --config`]);
  return null;
}

function logEndpointState(log: Log, signal: 'traces' | 'logs', cause: string | null): void {
  if (cause === null) log.info({ signal }, 'the OpenTelemetry endpoint takes what it is sent again');
  else
    log.warn(
      { signal, cause },
      'the OpenTelemetry endpoint does not take what it is sent: it is dropped, and nothing else is harmed; see OTEL_EXPORTER_OTLP_ENDPOINT',
    );
}

function logBlockedMigration(log: Log, sessions: readonly LockingSession[]): void {
  log.warn(
    { sessions: sessions.map(formatSession) },
    'the migration waits for sessions that hold locks: end their transactions; the migration is retried and then refused',
  );
}

function noSandbox(): never {
  throw new Error('neither a configuration nor a sandbox');
}
