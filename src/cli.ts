#!/usr/bin/env node
import { CommanderError } from 'commander';
import { exitCode } from './app/exit-code.ts';
import { commandLine } from './cli/program.ts';
import { describeTemporaryFailure } from './cli/temporary-failure.ts';
import { readSecrets } from './config/secrets.ts';
import { limitYoungGeneration } from './daemon/heap.ts';
import { outliveLostConnections } from './db/postgres-workarounds/unhandled-rejections.ts';
import { raiseConnectTimeout } from './lib/connect-timeout.ts';
import { toErrorMessage, UsageError } from './lib/errors.ts';
import { createRedactor } from './lib/redaction.ts';

const outputIsLost = handleEpipe();

limitYoungGeneration();

outliveLostConnections();

raiseConnectTimeout();

/**
 * Maximum length of a word in an error, in characters. Longer words are user input, such as a whole file;
 * their start identifies them.
 */
const LONG = 5_000;

/**
 * Prints the reason of a failure. Secrets are redacted, because errors of libraries may contain their
 * arguments.
 */
const complain = async (text: string) => {
  const safe = createRedactor(readSecrets())(text).replaceAll(/\S+/g, (word) =>
    word.length < LONG ? word : `${word.slice(0, 200)}…`,
  );
  // Imported late, because it keeps half of the modules out of `--help`. Without free descriptors nothing can be imported.
  const print = await import('./lib/print.ts').catch(() => null);
  if (print) print.printNotice(safe);
  else process.stderr.write(`${safe}\n`);
};

/** Matches the error of Node.js if the current directory was removed. */
const isOfRemovedFolder = (error: unknown) =>
  error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd';

/** Matches the error of Node.js if the limit of open files is reached. */
const isOfDescriptors = (error: unknown) =>
  error instanceof Error && 'code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE');

try {
  await commandLine().parseAsync();
} catch (error) {
  if (error instanceof CommanderError)
    process.exitCode = error.exitCode === 0 ? exitCode.done : exitCode.usage;
  else if (error instanceof UsageError) {
    for (const problem of error.problems) await complain(problem);
    process.exitCode = exitCode.usage;
  } else if (isOfRemovedFolder(error)) {
    await complain('the current folder is not there any more: go to another one with "cd"');
    process.exitCode = exitCode.usage;
  } else if (isOfDescriptors(error)) {
    await complain('this process may open too few files: raise the limit (ulimit -n 1024)');
    process.exitCode = exitCode.usage;
  } else {
    const later = describeTemporaryFailure(error);
    await complain(later ?? `chain-recorder failed: ${toErrorMessage(error)}`);
    process.exitCode = later === null ? exitCode.failed : exitCode.later;
  }
}
await waitForOutput();
if (outputIsLost()) process.exitCode = exitCode.failed;
// An explicit exit: while Node.js shuts down by itself it handles no signals, and a second SIGTERM would kill
// the process.
process.exit();

/**
 * Handles a reader of stdout or stderr that closes it early, such as `head`: the command does not fail.
 * Output to a closed stderr is lost, including log lines.
 * @returns a function that returns true if stdout failed for another reason, such as a full disk; the error
 * was printed then
 */
function handleEpipe(): () => boolean {
  let isLost = false;
  process.stderr.on('error', () => {});
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || isLost) return;
    isLost = true;
    process.stderr.write(`chain-recorder failed: its output cannot be written: ${error.message}\n`);
  });
  return () => isLost;
}

/** Resolves when the readers of stdout and stderr have received everything, or have closed them. */
async function waitForOutput(): Promise<void> {
  for (const stream of [process.stdout, process.stderr])
    await new Promise<void>((resolve) => stream.write('', () => resolve()));
}
