import { writeFile } from 'node:fs/promises';
import type { App } from '../app.ts';
import { sealUntil } from '../seals/seal.ts';
import { refuseUnwritable, writingTo } from '../writing.ts';
import { exitCode } from './exit.ts';
import { printJson, printTable, tell } from './output.ts';

/**
 * `seal`: seals what was recorded up to now, and prints the seal with its head.
 * @returns the exit code; 75 when another process is sealing, or it was stopped
 * @throws UsageError when the statement cannot be written, before anything is sealed
 */
export async function sealCommand(
  app: App,
  options: { json: boolean; out?: string },
  signal: AbortSignal,
): Promise<number> {
  const { out } = options;
  if (out !== undefined) refuseUnwritable(`--out ${out}`, out);
  const { databaseUrl, clock, environment } = app;
  const made = await sealUntil({ databaseUrl, clock, key: environment.sealKey, signal }, clock());
  if (made === 'busy') {
    tell('another process is sealing: look at reporting.seal_heads, or run it again later');
    return exitCode.later;
  }
  if (!made) {
    tell(
      signal.aborted
        ? 'interrupted: what was hashed is kept: run it again to go on'
        : 'all of it is sealed already: the newest seal reaches as far as the clock',
    );
    return signal.aborted ? exitCode.later : exitCode.done;
  }
  if (out !== undefined)
    await writingTo(`--out ${out}`, async () => {
      await writeFile(out, made.statement);
      if (made.signature) await writeFile(`${out}.sig`, made.signature);
    });
  const signature = made.signature?.toString('base64') ?? null;
  if (options.json) printJson({ ...made, signature });
  else {
    const { seal, until, rows, ends, late, head } = made;
    printTable([{ seal, until, rows, ends, late, signed: made.signature ? 'yes' : 'no', head }], '');
  }
  return exitCode.done;
}
