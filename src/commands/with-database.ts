import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readEnvironment } from '../config/environment.ts';
import { openEmbedded } from '../db/embedded.ts';
import { beginning } from '../db/examine-database.ts';
import { refusePoolerAt } from '../db/pooler.ts';
import { UsageError } from '../errors.ts';
import { openLog } from '../log.ts';
import { STATE_DIRECTORY } from '../state-directory.ts';
import { stopSignal } from './with-app.ts';

/**
 * Opens the database as it is for a command that needs no configuration: nothing is migrated.
 * @param options make: make the embedded database where there is none
 * @param work the command; its result is the exit code of the process
 * @throws UsageError when the environment is wrong, or there is no database, or it refuses this user
 */
export async function withDatabase(
  { make }: { make: boolean },
  work: (databaseUrl: string, signal: AbortSignal) => Promise<number>,
): Promise<void> {
  const signal = stopSignal();
  const { databaseUrl, logLevel = 'warn', logJson, pgPort } = readEnvironment();
  if (databaseUrl !== undefined) {
    await beginning(databaseUrl, () => refusePoolerAt(databaseUrl, 'DATABASE_URL'));
    process.exitCode = await work(databaseUrl, signal);
    return;
  }
  const dir = resolve(STATE_DIRECTORY);
  if (!make && !existsSync(join(dir, 'postgres')))
    throw new UsageError([
      `DATABASE_URL: is not set, and ${dir} holds no embedded database: run this where "up" runs`,
    ]);
  const embedded = await openEmbedded({ dir, log: openLog({ logLevel, logJson }), port: pgPort });
  try {
    process.exitCode = await work(embedded.url, signal);
  } finally {
    await embedded.close();
  }
}
