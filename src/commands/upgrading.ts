import { resolve } from 'node:path';
import { readEnvironment } from '../config/environment.ts';
import { type BothServers, upgradeEmbedded } from '../db/embedded-upgrade.ts';
import { UsageError } from '../errors.ts';
import { openLog } from '../log.ts';
import { type Verified, verify } from '../seals/verify.ts';
import { STATE_DIRECTORY } from '../state-directory.ts';
import { migrate } from '../views/migrate.ts';
import { DirectoryTarget } from '../warehouse/directory-target.ts';
import { exportTables } from '../warehouse/export.ts';
import { warehouseTables } from '../warehouse/export-table.ts';
import { restoreRecord } from '../warehouse/restore.ts';
import { exitCode } from './exit.ts';
import { printJson, printLine, tell } from './output.ts';

/**
 * `upgrade --binaries FOLDER`: the embedded database becomes one of the installed major version of PostgreSQL, which reads
 * no files of another one: the record is exported from a server of the version before and restored into a new one.
 * @returns the exit code; 1 when the record differs from its seals as it did not before, 75 when it was stopped
 */
export async function upgradeCommand(
  { binaries, json }: { readonly binaries: string; readonly json: boolean },
  signal: AbortSignal,
): Promise<number> {
  const { databaseUrl, logLevel = 'warn', logJson } = readEnvironment();
  if (databaseUrl !== undefined)
    throw new UsageError([
      'DATABASE_URL: is set, and only the embedded database is upgraded by this: a server of your own by pg_upgrade',
    ]);
  const dir = resolve(STATE_DIRECTORY);
  const begins = (step: string) => {
    if (!json) tell(`${step} …`);
  };
  try {
    const before = await upgradeEmbedded({
      dir,
      binaries,
      log: openLog({ logLevel, logJson }),
      move: (servers) => moved(servers, begins, signal),
    });
    if (json) printJson({ upgraded: typeof before === 'number', before: before || null });
    else if (before === null) printLine('nothing is to be done: the files are of the installed version');
    else if (before !== false)
      printLine(
        `the record is in files of the installed version; those of PostgreSQL ${before} stay in ${dir}/postgres/data-${before} until you delete them`,
      );
    return before === false ? exitCode.failed : exitCode.done;
  } catch (error) {
    if (!signal.aborted) throw error;
    tell('interrupted: the files are as they were: run the same command again');
    return exitCode.later;
  }
}

/** Moves the record, and holds it against its seals. @returns false: it differs from them, and did not before */
async function moved(
  { from, to, scratch }: BothServers,
  begins: (step: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  begins('bringing the old database to the schema of this version');
  for (const told of await migrate(from)) tell(told);
  begins('exporting');
  const target = new DirectoryTarget(scratch);
  await exportTables({
    ...{ databaseUrl: from, target, tables: warehouseTables, format: 'parquet', sinceLast: false },
    signal,
  });
  begins('restoring');
  await migrate(to);
  const { doubts } = await restoreRecord({ databaseUrl: to, source: target, signal });
  for (const doubt of doubts) tell(doubt);
  begins('comparing with the seals');
  const after = await verify({ databaseUrl: to, signal });
  signal.throwIfAborted();
  if (wrong(after) !== wrong(await verify({ databaseUrl: from, signal }))) {
    tell('the record differs from its seals, and did not before: nothing was changed');
    return false;
  }
  begins('putting the new files in place of the old ones');
  return true;
}

const wrong = ({ broken, differences, more }: Verified) => JSON.stringify({ broken, differences, more });
