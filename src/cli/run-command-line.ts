import { CommanderError } from 'commander';
import { exitCode } from '../app/exit-code.ts';
import { readSecrets } from '../config/secrets.ts';
import { toErrorMessage, UsageError } from '../lib/errors.ts';
import { createRedactor } from '../lib/redaction.ts';
import { commandLine } from './program.ts';
import { describeTemporaryFailure } from './temporary-failure.ts';

/**
 * Maximum length of a word in an error, in characters. Longer words are user input, such as a whole file, and
 * are truncated.
 */
const MAX_WORD_CHARACTERS = 5_000;

/**
 * Prints the reason of a failure. Secrets are redacted, because errors of libraries may contain their
 * arguments.
 */
const printFailure = async (text: string) => {
  const safe = createRedactor(readSecrets())(text).replaceAll(/\S+/g, (word) =>
    word.length < MAX_WORD_CHARACTERS ? word : `${word.slice(0, 200)}…`,
  );
  // Imported late, so that `--help` loads half of the modules only. Without free descriptors nothing can be
  // imported.
  const print = await import('../lib/print.ts').catch(() => null);
  if (print) print.printNotice(safe);
  else process.stderr.write(`${safe}\n`);
};

/** Returns whether an error means that the current directory was removed. */
const isOfRemovedFolder = (error: unknown) =>
  error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd';

/** Returns whether an error means that the limit of open files is reached. */
const isOfDescriptors = (error: unknown) =>
  error instanceof Error && 'code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE');

/**
 * Runs the command of these arguments. Prints the reason of a failure on stderr and sets the exit code of the
 * process.
 */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  try {
    await commandLine().parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError)
      process.exitCode = error.exitCode === 0 ? exitCode.done : exitCode.usage;
    else if (error instanceof UsageError) {
      for (const problem of error.problems) await printFailure(problem);
      process.exitCode = exitCode.usage;
    } else if (isOfRemovedFolder(error)) {
      await printFailure('the current folder was removed: change to another folder with "cd"');
      process.exitCode = exitCode.usage;
    } else if (isOfDescriptors(error)) {
      await printFailure('the limit of open files is too low: raise the limit (ulimit -n 1024)');
      process.exitCode = exitCode.usage;
    } else {
      const later = describeTemporaryFailure(error);
      await printFailure(later ?? `chain-recorder failed: ${toErrorMessage(error)}`);
      process.exitCode = later === null ? exitCode.failed : exitCode.later;
    }
  }
}
