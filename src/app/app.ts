import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Environment, readEnvironment } from '../config/environment.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { secretsByName } from '../config/secrets.ts';
import type { BudgetKey } from '../db/budget-key.ts';
import { Replica } from '../db/replica.ts';
import type { ActiveLedger } from '../health/node-health.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { UsageError } from '../lib/errors.ts';
import type { ActiveFeed, ConfiguredFeed } from '../recording/active-feed.ts';
import { type Configuration, createConfiguration } from '../recording/configuration.ts';
import type { RecordingContext } from '../recording/context.ts';
import { ProcessCounts } from '../server/metrics/process-counts.ts';
import { linesLost } from '../telemetry/log.ts';
import { type Announcement, recordsSandbox, resolveSandbox, usesBundledSandbox } from './bundled-sandbox.ts';
import { activeFeeds, activeLedgers, catalogNames } from './configured-feeds.ts';
import { type DatabaseOptions, openRecordDatabase, type RecordDatabase } from './open-database.ts';
import { type Logging, openLogging, secretReferences } from './open-logging.ts';
import { existingStateDirectory, ownStateDirectory } from './state-directory.ts';
import { budgetKeys, createUpstreamOpener } from './upstream-opener.ts';

/** The open resources of a command. These resources stay open when the configuration changes. */
interface AppResources extends RecordDatabase, Omit<Logging, 'close'> {
  readonly environment: Environment;
  /** Path of the configuration file; null if there is no file. */
  readonly configFile: string | null;
  /**
   * Announcement of the bundled sandbox network that this command started or found; null if there is no
   * sandbox.
   */
  readonly startedSandbox: Announcement | null;
  readonly clock: Clock;
  /** Read replica for queries; null if queries use the database itself. */
  readonly replica: Replica | null;
  /** Counters of this process: upstream calls and runs. */
  readonly counts: ProcessCounts;
}

/** Context of a command: its open resources, and everything that follows from the configuration. */
export interface App extends AppResources {
  readonly config: Config;
  /** Announcement of the bundled sandbox network if the configuration records it; otherwise null. */
  readonly sandbox: Announcement | null;
  /** Feeds that runs record. */
  readonly feeds: readonly ActiveFeed[];
  /** Uptime ledgers of the prober, at most one. */
  readonly ledgers: readonly ActiveLedger[];
  /** Feeds and ledgers: everything that is registered, planned and counted. */
  readonly watched: readonly ConfiguredFeed[];
  readonly configuration: Configuration;
  readonly recording: RecordingContext;
  /** Keys of the request budgets of the configured services. */
  readonly budgets: readonly BudgetKey[];
  /** Secrets by their names. */
  readonly secrets: ReadonlyMap<string, string>;
  /**
   * Returns the same application with another configuration and the current secrets. The resources stay open.
   * @throws UsageError if the environment is invalid now
   */
  reconfigured(config: Config): App;
}

/** Options for opening the application. */
export interface AppOptions extends DatabaseOptions {
  readonly config?: string | undefined;
  /** Use a temporary database if this directory has no record: `plan` and `alerts test`. */
  readonly createsNothing?: boolean;
  /** Log level if LOG_LEVEL is not set. Default: `warn`, so that the result of a command comes first. */
  readonly logLevel?: 'info';
  /** Export traces and logs if the environment sets an endpoint for them. */
  readonly telemetry?: boolean;
  readonly clock?: Clock;
}

const DEFAULT_FILE = 'recorder.yaml';
const MISNAMED_CONFIG_FILES = [
  'recorder.yml',
  'recorder.yaml.txt',
  'chain-recorder.yaml',
  'chain-recorder.yml',
];

/**
 * Opens configuration, database and upstreams.
 * @throws UsageError if the configuration, the environment or the database is invalid
 */
export async function openApp(options: AppOptions): Promise<App> {
  const environment = readEnvironment();
  const configFile = findConfigFile(environment, options.config);
  const state = options.createsNothing
    ? await existingStateDirectory(environment.databaseUrl)
    : ownStateDirectory();
  const fromFile = configFile === null ? null : loadConfig(configFile, catalogNames);
  const level = environment.logLevel ?? options.logLevel ?? 'warn';
  const logging = await openLogging(environment, level, options.telemetry ?? false);
  const { log, traced, keepSecrets } = logging;
  keepSecrets(fromFile);
  const closers: (() => Promise<void>)[] = [state.close, logging.close];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    if (usesBundledSandbox(fromFile)) log.info('starting the bundled sandbox network');
    const { config, sandbox } = await resolveSandbox(fromFile, state.path);
    if (sandbox) closers.push(() => sandbox.close());
    const record = await openRecordDatabase(environment, state, log, options);
    closers.push(record.close);
    const replica = environment.reportingUrl ? new Replica(environment.reportingUrl) : null;
    if (replica) closers.push(() => replica.close());
    const resources = {
      ...record,
      environment,
      configFile,
      startedSandbox: sandbox?.announcement ?? null,
      log,
      keepSecrets,
      clock: options.clock ?? systemClock,
      replica,
      counts: new ProcessCounts(linesLost),
      traced,
      close,
    };
    return buildApp(resources, config);
  } catch (error) {
    await close();
    throw error;
  }
}

/** Builds the application of a configuration from the open resources. */
function buildApp(resources: AppResources, config: Config): App {
  const { environment, database, clock, counts, traced, startedSandbox } = resources;
  const feeds = activeFeeds(config);
  const ledgers = activeLedgers(config);
  const watched = [...feeds, ...ledgers];
  return {
    ...resources,
    config,
    sandbox: startedSandbox && recordsSandbox(config, startedSandbox) ? startedSandbox : null,
    feeds,
    ledgers,
    watched,
    configuration: createConfiguration(config, watched),
    secrets: secretsByName(secretReferences(config)),
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
      resources.keepSecrets(other);
      const { databaseUrl, reportingUrl, otlp } = environment; // the open resources keep using these
      return buildApp(
        { ...resources, environment: { ...readEnvironment(), databaseUrl, reportingUrl, otlp } },
        other,
      );
    },
  };
}

/** Secrets whose changes need a restart: the process keeps the values from its start. */
export const STARTUP_SECRETS = ['DATABASE_URL', 'REPORTING_DATABASE_URL', 'OTEL_EXPORTER_OTLP_HEADERS'];

/**
 * Returns the path of the configuration file. Returns null if no file is named and the default file is
 * absent.
 * @throws UsageError if the name is empty, or a file has a name that is probably a mistake for the default
 * name
 */
export function findConfigFile(environment: Environment, named: string | undefined): string | null {
  const file = named ?? environment.configFile;
  if (file === '') throw new UsageError(['--config: is empty: name a file']);
  if (file !== undefined) return file;
  if (existsSync(DEFAULT_FILE)) return join('.', DEFAULT_FILE);
  const meant = MISNAMED_CONFIG_FILES.find((one) => existsSync(one));
  if (meant !== undefined)
    throw new UsageError([
      `${meant}: is not read: rename this file to ${DEFAULT_FILE}, or pass it with --config`,
    ]);
  return null;
}
