import { writeFile } from 'node:fs/promises';
import type { App } from '../../app/app.ts';
import { exitCode } from '../../app/exit-code.ts';
import { toErrorMessage, UsageError } from '../../lib/errors.ts';
import { printJson, printNotice, printTable } from '../../lib/print.ts';
import { assertWritable, explainWriteErrors } from '../../lib/write-errors.ts';
import { type FinishedSeal, newestSeal, sealUntil } from '../../reporting/seals/seal.ts';

/**
 * Command `seal`: seals everything recorded until now, and prints the newest seal with its head.
 * @returns the exit code; 75 if another process is sealing, or the command was stopped
 * @throws UsageError if the statement cannot be written, before anything is sealed
 */
export async function sealCommand(
  app: App,
  options: { json: boolean; out?: string },
  signal: AbortSignal,
): Promise<number> {
  const { out } = options;
  const { databaseUrl, clock, environment } = app;
  if (out !== undefined)
    for (const file of environment.sealKey ? [out, `${out}.sig`] : [out])
      assertWritable(`--out ${file}`, file);
  const sealed = await sealUntil({ databaseUrl, clock, key: environment.sealKey, signal }, clock());
  if (sealed === 'busy') {
    printNotice('another process is sealing: check reporting_internal.seal_heads, or retry later');
    return exitCode.later;
  }
  if (!sealed && signal.aborted) {
    printNotice('interrupted: finished parts are kept; run the command again to continue');
    return exitCode.later;
  }
  if (!sealed) printNotice('everything recorded so far is sealed already');
  const newest = sealed ?? (await newestSeal(databaseUrl));
  if (!newest) return exitCode.done;
  if (out !== undefined) await writeStatement(out, newest);
  const signature = newest.signature?.toString('base64') ?? null;
  if (options.json) printJson({ ...newest, signature });
  else {
    const { seal, until, rows, ends, late, head } = newest;
    printTable([{ seal, until, rows, ends, late, signed: newest.signature ? 'yes' : 'no', head }], '');
  }
  return exitCode.done;
}

/**
 * Writes the statement and the signature of a seal.
 * @throws Error or UsageError if the files cannot be written; the seal stays valid
 */
async function writeStatement(out: string, { seal, statement, signature }: FinishedSeal): Promise<void> {
  try {
    await explainWriteErrors(`--out ${out}`, async () => {
      await writeFile(out, statement);
      if (signature) await writeFile(`${out}.sig`, signature);
    });
  } catch (error) {
    const message = `${toErrorMessage(error)} (seal ${seal} was created: run "seal --out" again to write its statement, or that of a newer seal)`;
    throw error instanceof UsageError ? new UsageError([message]) : new Error(message, { cause: error });
  }
}
