import { Presets, SingleBar } from 'cli-progress';
import { exitCode } from '../../app/exit-code.ts';
import { readEnvironment } from '../../config/environment.ts';
import { UsageError } from '../../lib/errors.ts';
import { printJson, printNotice, printText } from '../../lib/print.ts';
import { verify } from '../../reporting/seals/verify.ts';
import { openTarget } from '../../warehouse/open-target.ts';
import { restoreRecord } from '../../warehouse/restore.ts';
import { RestoreRefusedError } from '../../warehouse/restore-plan.ts';
import { describeTemporaryFailure } from '../temporary-failure.ts';
import { formatVerification } from './verify.ts';

/**
 * Command `restore --from DIR|s3://BUCKET/PREFIX`: restores a backup, or an export of all datasets, into an
 * empty database, and verifies its seals.
 * @returns the exit code; 1 if the record differs from its seals, 75 if the signal stopped the command, or
 * the database or the bucket is unavailable
 */
export async function restoreCommand(
  databaseUrl: string,
  { from, json }: { readonly from: string; readonly json: boolean },
  signal: AbortSignal,
): Promise<number> {
  const source = await openTarget(from, readEnvironment().s3, '--from');
  const bar = json || !process.stderr.isTTY ? null : new SingleBar(BAR, Presets.shades_classic);
  try {
    bar?.start(1, 0);
    const { manifest, tables, doubts, notices } = await restoreRecord({
      databaseUrl,
      source,
      signal,
      progress: ({ bytes, all }) => {
        bar?.setTotal(all);
        bar?.update(bytes);
      },
    }).finally(() => bar?.stop());
    for (const sentence of [...notices, ...doubts]) printNotice(sentence);
    const verified = await verify({ databaseUrl, signal });
    const { exported_at } = manifest.bookkeeping ?? manifest;
    if (json) printJson({ from, exported_at, tables, doubts, verified });
    else {
      printText(formatVerification(verified));
      printNotice(
        `restored as of ${exported_at}: "up" fetches later data that is still available; reporting_internal.permanent_gaps lists the rest`,
      );
    }
    const differ = verified.broken.length + verified.differences.length + verified.more > 0;
    if (differ)
      printNotice(
        'the record differs from its seals: compare with the output of "verify" on the system that wrote the backup',
      );
    return differ ? exitCode.failed : exitCode.done;
  } catch (error) {
    const why = signal.aborted ? 'interrupted' : describeTemporaryFailure(error);
    if (why !== null) {
      printNotice(
        `${why}: run "chain-recorder restore" again; if that command reports that there is a record, run "verify"`,
      );
      return exitCode.later;
    }
    throw error instanceof RestoreRefusedError ? new UsageError([error.message]) : error;
  } finally {
    await source.close();
  }
}

const BAR = { stream: process.stderr, format: '{bar} {percentage} % | {duration_formatted}' };
