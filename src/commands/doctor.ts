import { resolve } from 'node:path';
import { configFile, STATE_DIRECTORY } from '../app.ts';
import type { Checked } from '../checked.ts';
import { systemClock } from '../clock.ts';
import { type Environment, soundEnvironment } from '../config/environment.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { activeFeeds, activeLedgers, catalogNames } from '../configured-feeds.ts';
import { openDatabase } from '../db/client.ts';
import { type EmbeddedPostgres, openEmbedded } from '../db/embedded.ts';
import { examineDatabase } from '../db/examine-database.ts';
import { pendingMigrations, schemaProblem } from '../db/migrate.ts';
import { messageOf, UsageError } from '../errors.ts';
import { examineRedis } from '../jobs/examine-redis.ts';
import { queueNames } from '../jobs/jobs.ts';
import { openBackend } from '../jobs/open-backend.ts';
import { type Log, openLog } from '../log.ts';
import type { Watched } from '../recording/active-feed.ts';
import { type Sandbox, sandboxConfig, useSandbox } from '../sandbox.ts';
import { migrate } from '../views/migrate.ts';
import { examineDisk } from './disk.ts';
import { examineRecording } from './examining-recording.ts';
import { examineUpstreams } from './examining-upstreams.ts';
import { exitCode } from './exit.ts';
import { printJson } from './output.ts';
import { printChecked } from './printing-checked.ts';

const PATIENCE = 10_000;

/** What the configuration says; null: it is not valid. */
interface Configured {
  readonly config: Config | null;
  readonly watched: readonly Watched[];
  readonly sandbox: Sandbox | null;
  readonly checked: readonly Checked[];
}

/**
 * `doctor`: environment, configuration, database, queue, disk, clock, the recording and each upstream, and what mends each
 * fault. It goes on after a fault with what does not depend on it.
 * @returns 1 where something must be mended, 2 where that is the configuration or the environment
 */
export async function doctorCommand(
  options: { config: string | undefined; json: boolean },
  signal: AbortSignal,
): Promise<number> {
  const { environment, problems } = soundEnvironment();
  const log = openLog({ logLevel: environment.logLevel ?? 'error', logJson: environment.logJson });
  const configured = await configuration(environment, options.config);
  const embedded = environment.databaseUrl === undefined ? await startEmbedded(environment, log) : null;
  try {
    const { config } = configured;
    const upstreams = config ? examineUpstreams(config, environment, signal) : Promise.resolve([]);
    upstreams.catch(() => {}); // it is awaited below
    const databaseUrl = environment.databaseUrl ?? (embedded && 'url' in embedded ? embedded.url : null);
    const checked = [
      ...problems.map((found) => ({ check: 'environment', ok: false, found })),
      ...configured.checked,
      ...(embedded && 'check' in embedded ? [embedded] : []),
      ...(databaseUrl ? await stored(databaseUrl, configured, environment, log) : []),
      ...(embedded ? [await examineDisk(resolve('.'))] : []),
      ...(await upstreams),
    ];
    if (options.json) printJson(checked);
    else printChecked(checked);
    if (problems.length > 0 || !config) return exitCode.usage;
    return checked.every(({ ok }) => ok) ? exitCode.done : exitCode.failed;
  } finally {
    if (embedded && 'url' in embedded) await embedded.close();
    await configured.sandbox?.close();
  }
}

async function configuration(environment: Environment, named: string | undefined): Promise<Configured> {
  const file = configFile(environment, named);
  const sandbox = file === null ? await useSandbox(resolve(STATE_DIRECTORY)) : null;
  try {
    const config = sandbox ? sandboxConfig(sandbox.announcement) : loadConfig(file ?? '', catalogNames);
    const watched: Watched[] = [...activeFeeds(config), ...activeLedgers(config)];
    const targets = watched.reduce((sum, feed) => sum + feed.targets.length, 0);
    const found = `${watched.length} schedules, ${targets} targets${sandbox ? ', from the bundled sandbox: no recorder.yaml' : ''}`;
    const checked =
      targets > 0
        ? { check: 'configuration', ok: true, found }
        : {
            check: 'configuration',
            ok: false,
            found: `${found}: nothing is recorded`,
            mend: 'name something under upstreams and watch, or let "chain-recorder init" write the file',
          };
    return { config, watched, sandbox, checked: [checked] };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const checked = error.problems.map((found) => ({ check: 'configuration', ok: false, found }));
    return { config: null, watched: [], sandbox, checked };
  }
}

async function startEmbedded({ pgPort }: Environment, log: Log): Promise<EmbeddedPostgres | Checked> {
  try {
    return await openEmbedded({ dir: resolve(STATE_DIRECTORY), log, port: pgPort });
  } catch (error) {
    return {
      check: 'database',
      ok: false,
      found: `the embedded PostgreSQL does not start: ${messageOf(error).split('\n').join(' ')}`,
      mend: 'see .recorder/postgres/postgres.log, or name a PostgreSQL of your own in DATABASE_URL',
    };
  }
}

/** What concerns the database: itself, the queue and the recording. */
async function stored(
  databaseUrl: string,
  { config, watched }: Configured,
  environment: Environment,
  log: Log,
): Promise<Checked[]> {
  const redis = environment.redisUrl === undefined ? null : await examineRedis(environment.redisUrl);
  const itself = await examineDatabase(databaseUrl);
  if (!itself.ok) return [itself, ...(redis ? [redis] : [])];
  const database = openDatabase(databaseUrl);
  try {
    const pending = await pendingMigrations(database.sql);
    if (pending > 0 && environment.databaseUrl !== undefined) {
      const found = `${itself.found}; it lacks ${pending} migrations, which the next "chain-recorder up" or "migrate" applies`;
      return [{ ...itself, found }, ...(redis ? [redis] : [])];
    }
    if (pending > 0) await migrate(databaseUrl);
    const problem = await schemaProblem(database.sql);
    if (problem) return [{ check: 'database', ok: false, found: problem }, ...(redis ? [redis] : [])];
    const queue = redis ?? (await lookAtQueue(databaseUrl, config?.name, environment, log));
    return [itself, queue, ...(await examineRecording(database.sql, config, watched, systemClock))];
  } finally {
    await database.close();
  }
}

async function lookAtQueue(
  databaseUrl: string,
  recorder = 'recorder',
  { redisUrl }: Environment,
  log: Log,
): Promise<Checked> {
  const impatience = new AbortController();
  const look = async (): Promise<Checked> => {
    const backend = await openBackend({ redisUrl, databaseUrl }, log, impatience.signal);
    const opened = await backend.queue(queueNames(recorder).polls);
    const schedules = await opened.getJobSchedulers();
    await opened.close().catch(() => {});
    await backend.close();
    return { check: 'queue', ok: true, found: `${backend.kind}, ${schedules.length} schedules set` };
  };
  try {
    return await Promise.race([look(), timeout()]);
  } catch (error) {
    return { check: 'queue', ok: false, found: `${redisUrl ? 'redis' : 'postgres'}: ${messageOf(error)}` };
  } finally {
    impatience.abort();
  }
}

function timeout(): Promise<never> {
  return new Promise((_, reject) =>
    setTimeout(() => reject(new Error(`no answer within ${PATIENCE} ms`)), PATIENCE).unref(),
  );
}
