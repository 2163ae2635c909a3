import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { STATE_DIRECTORY } from '../app/state-directory.ts';
import { readEnvironment } from '../config/environment.ts';
import { refusePoolerAt } from '../db/detect-pooler.ts';
import { openEmbedded } from '../db/embedded/embedded.ts';
import { withDatabaseDiagnosis } from '../db/examine-database.ts';
import { UsageError } from '../lib/errors.ts';
import { openLog } from '../telemetry/log.ts';
import { createStopSignal } from './with-app.ts';

/**
 * Opens the database for a command that needs no configuration. Does not migrate the database.
 * @param options make: create the embedded database if it is missing
 * @param work the command; its result is the exit code of the process
 * @throws UsageError if the environment is invalid, or there is no database, or the database rejects this
 * user
 */
export async function withDatabase(
  { make }: { make: boolean },
  work: (databaseUrl: string, signal: AbortSignal) => Promise<number>,
): Promise<void> {
  const signal = createStopSignal();
  const { databaseUrl, logLevel = 'warn', logJson, pgPort } = readEnvironment();
  if (databaseUrl !== undefined) {
    await withDatabaseDiagnosis(databaseUrl, () => refusePoolerAt(databaseUrl, 'DATABASE_URL'));
    process.exitCode = await work(databaseUrl, signal);
    return;
  }
  const dir = resolve(STATE_DIRECTORY);
  if (!make && !existsSync(join(dir, 'postgres')))
    throw new UsageError([
      `DATABASE_URL: is not set, and ${dir} holds no embedded database: run this command in the folder in which "up" runs`,
    ]);
  const embedded = await openEmbedded({ dir, log: openLog({ logLevel, logJson }), port: pgPort, signal });
  try {
    process.exitCode = await work(embedded.url, signal);
  } finally {
    await embedded.close();
  }
}
