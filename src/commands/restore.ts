import { readManifest } from '../backups/manifest.ts';
import { type Restored, restoreBackup } from '../backups/restore.ts';
import { readEnvironment } from '../config/environment.ts';
import { exitCode } from './exit.ts';
import { printJson, printText, tell } from './output.ts';
import { passing } from './passing.ts';
import { isExport, restoreExport } from './restoring-export.ts';
import { toldOf } from './verify.ts';

/**
 * `restore --from FOLDER`: restores a backup, or an export, into an empty database and holds it against the manifest and its seals.
 * @returns the exit code; 1 when the record differs from its seals, 75 when it was stopped, the database is away, or another process restores
 */
export async function restoreCommand(
  databaseUrl: string,
  { from, json }: { from: string; json: boolean },
  signal: AbortSignal,
): Promise<number> {
  if (isExport(from)) return restoreExport(databaseUrl, { from, json, s3: readEnvironment().s3 }, signal);
  const manifest = await readManifest(from);
  let restored: Restored | null;
  try {
    const begins = (step: string) => {
      if (!json) tell(`${step} …`);
    };
    restored = await restoreBackup({ databaseUrl, from, manifest, signal, begins });
  } catch (error) {
    const why = signal.aborted ? 'interrupted' : passing(error);
    if (why === null) throw error;
    tell(`${why}: the database cannot be used yet: run the same command again`);
    return exitCode.later;
  }
  if (!restored) {
    tell('another process restores into this database: wait for it, and run the same command again');
    return exitCode.later;
  }
  const { told, verified } = restored;
  for (const one of told) tell(one);
  if (json) printJson({ from, taken_at: manifest.taken_at, contents: manifest.contents, verified });
  else {
    printText(toldOf(verified));
    tell(
      `restored as of ${manifest.taken_at}: counts, coverage and seals are those of the backup. "up" fetches what can still be fetched of the time since; reporting.losses says what cannot`,
    );
  }
  const differ = verified.broken.length + verified.differences.length + verified.more > 0;
  if (differ) tell('the record differs from its seals; it is what was backed up, so it did before');
  return differ ? exitCode.failed : exitCode.done;
}
