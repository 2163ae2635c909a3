import { join, resolve } from 'node:path';
import { findConfigFile } from '../../app/app.ts';
import { resolveSandbox, type Sandbox } from '../../app/bundled-sandbox.ts';
import { activeFeeds, activeLedgers, catalogNames } from '../../app/configured-feeds.ts';
import { exitCode } from '../../app/exit-code.ts';
import { rememberRecord } from '../../app/known-records.ts';
import { existingStateDirectory, type StateDirectory } from '../../app/state-directory.ts';
import { type Environment, readValidEnvironment } from '../../config/environment.ts';
import { loadConfig } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { findSuspiciousVariables } from '../../config/suspicious-env.ts';
import { checkExportTargets } from '../../daemon/export-work.ts';
import { checkReferencedSecrets } from '../../daemon/secret-problems.ts';
import { type EmbeddedPostgres, openEmbedded } from '../../db/embedded/embedded.ts';
import { checkServer } from '../../doctor/check-server.ts';
import { checkDisk, checkStorage } from '../../doctor/check-storage.ts';
import { checkTelemetry } from '../../doctor/check-telemetry.ts';
import { checkUpstreams } from '../../doctor/check-upstreams.ts';
import type { CheckResult } from '../../lib/check-result.ts';
import { toErrorMessage, UsageError } from '../../lib/errors.ts';
import { printJson } from '../../lib/print.ts';
import type { ConfiguredFeed } from '../../recording/active-feed.ts';
import { type Log, openLog } from '../../telemetry/log.ts';
import { printCheckResults } from '../output/print-checks.ts';

/** Result of loading the configuration; null if it is invalid. */
interface ConfigurationCheck {
  readonly config: Config | null;
  readonly watched: readonly ConfiguredFeed[];
  readonly sandbox: Sandbox | null;
  /** Problems that prevent `up` from starting. */
  readonly problems: readonly string[];
  readonly checked: readonly CheckResult[];
}

/**
 * Command `doctor`: checks environment, configuration, database, queue, disk, clock, the recording and each
 * upstream, and prints a fix for each failure. After a failure, independent checks continue.
 * @returns 1 if something must be fixed; 2 if a value in the configuration or the environment is invalid. A
 * value that another system rejects, such as a password or a key, also results in 1
 */
export async function doctorCommand(
  options: { config?: string | undefined; json: boolean },
  signal: AbortSignal,
): Promise<number> {
  const { environment, problems } = readValidEnvironment();
  const log = openLog({ logLevel: environment.logLevel ?? 'error', logJson: environment.logJson });
  const state = await existingStateDirectory(environment.databaseUrl);
  const configured = await configuration(environment, options.config, state.path);
  // If the URL of an external database is invalid, no embedded database must be created.
  const own = environment.databaseUrl !== undefined || problems.some((one) => one.startsWith('DATABASE_URL'));
  const embedded = own ? null : await startEmbedded(environment, state.path, log);
  try {
    const { config } = configured;
    const upstreams = config ? checkUpstreams(config, environment, signal) : Promise.resolve([]);
    upstreams.catch(() => {}); // awaited below
    const exports = config ? checkExportTargets(config, environment) : Promise.resolve([]);
    exports.catch(() => {});
    const databaseUrl = environment.databaseUrl ?? (embedded && 'url' in embedded ? embedded.url : null);
    const checked = [
      ...problems.map((found) => ({ check: 'environment', ok: false, found })),
      ...findSuspiciousVariables().map((one) => ({
        check: 'environment',
        ok: one.fix === undefined,
        ...one,
      })),
      ...configured.checked,
      ...configured.problems.map((found) => ({ check: 'configuration', ok: false, found })),
      ...(embedded && 'check' in embedded ? [embedded] : []),
      ...(embedded && 'url' in embedded ? reportEmbedded(embedded, state, environment) : []),
      ...(databaseUrl ? await checkStorage(databaseUrl, configured, environment, log, signal) : []),
      ...(embedded ? [await checkDisk(resolve('.'))] : []),
      ...(config ? [await checkServer(environment, config)] : []),
      ...(await checkTelemetry(environment.otlp, signal)),
      ...(await exports),
      ...(await upstreams),
    ];
    if (options.json) printJson(checked);
    else printCheckResults(checked);
    if (problems.length + configured.problems.length > 0) return exitCode.usage;
    return checked.every(({ ok }) => ok) ? exitCode.done : exitCode.failed;
  } finally {
    if (embedded && 'url' in embedded) await embedded.close();
    await configured.sandbox?.close();
    await state.close();
  }
}

async function configuration(
  environment: Environment,
  named: string | undefined,
  stateDirectory: string,
): Promise<ConfigurationCheck> {
  let sandbox: Sandbox | null = null;
  try {
    const file = findConfigFile(environment, named);
    const fromFile = file === null ? null : loadConfig(file, catalogNames);
    const resolved = await resolveSandbox(fromFile, stateDirectory);
    sandbox = resolved.sandbox;
    const { config } = resolved;
    const watched: ConfiguredFeed[] = [...activeFeeds(config), ...activeLedgers(config)];
    const targets = watched.reduce((sum, feed) => sum + feed.targets.length, 0);
    const found = `${watched.length} schedules, ${targets} targets${sandbox ? ', from the bundled sandbox' : ''}`;
    const checked =
      targets > 0
        ? { check: 'configuration', ok: true, found }
        : {
            check: 'configuration',
            ok: false,
            found: `${found}: nothing is recorded`,
            fix: 'add entries to upstreams and watch, or create the file with "chain-recorder init"',
          };
    return { config, watched, sandbox, problems: checkReferencedSecrets(config), checked: [checked] };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { config: null, watched: [], sandbox, problems: error.problems, checked: [] };
  }
}

async function startEmbedded(
  { pgPort }: Environment,
  dir: string,
  log: Log,
): Promise<EmbeddedPostgres | CheckResult> {
  try {
    return await openEmbedded({ dir, log, port: pgPort });
  } catch (error) {
    return {
      check: 'database',
      ok: false,
      found: toErrorMessage(error).trim().split('\n').join(' '),
      // A usage error already contains the fix.
      ...(error instanceof UsageError
        ? {}
        : { fix: 'see .recorder/postgres/postgres.log, or name a PostgreSQL of your own in DATABASE_URL' }),
    };
  }
}

/**
 * Reports the address of the embedded database for other programs. The check fails if the database was just
 * created although this user has another record.
 */
function reportEmbedded(
  { port, created }: EmbeddedPostgres,
  { path: dir, isTemporary }: StateDirectory,
  { stateHome }: Environment,
): CheckResult[] {
  if (isTemporary)
    return [
      {
        check: 'database',
        ok: true,
        found:
          'this directory has no record yet: "chain-recorder up" creates one; checked with a temporary database',
      },
    ];
  const two = rememberRecord(dir, created, stateHome);
  const where = `other programs connect to postgres://recorder@127.0.0.1:${port}/recorder, with the password in ${join(dir, 'postgres/password')}`;
  if (!two) return [{ check: 'database', ok: true, found: where }];
  const found = `${two.here} had no database: a new, empty one was created; the last one is in ${two.last}`;
  return [
    { check: 'database', ok: false, found, fix: `run chain-recorder in ${two.last} to continue with it` },
  ];
}
