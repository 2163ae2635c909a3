#!/usr/bin/env node
import { CommanderError } from 'commander';
import { exitCode } from './app/exit-code.ts';
import { letReadersLeave, outputDelivered } from './cli/handle-epipe.ts';
import { commandLine } from './cli/program.ts';
import { passing } from './cli/temporary-failure.ts';
import { readSecrets } from './config/secrets.ts';
import { keepYoungSmall } from './daemon/heap.ts';
import { outliveLostConnections } from './db/postgres-workarounds/unhandled-rejections.ts';
import { waitForSlowAddresses } from './lib/connect-timeout.ts';
import { messageOf, UsageError } from './lib/errors.ts';
import { redactor } from './lib/redaction.ts';

const outputIsLost = letReadersLeave();

keepYoungSmall();

outliveLostConnections();

waitForSlowAddresses();

/** A longer word is something that somebody gave, such as a whole file: its begin says which it was. */
const LONG = 5_000;

/** Prints why the command failed. Secrets are removed: errors of libraries may contain what they were called with. */
const complain = async (text: string) => {
  const { tell } = await import('./lib/print.ts'); // what fits texts to a terminal is half of what --help would load
  tell(
    redactor(readSecrets())(text).replaceAll(/\S+/g, (word) =>
      word.length < LONG ? word : `${word.slice(0, 200)}…`,
    ),
  );
};

/** What Node.js says where it is asked for the current folder, and somebody removed that. */
const isOfRemovedFolder = (error: unknown) =>
  error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd';

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
  } else {
    const later = passing(error);
    await complain(later ?? `chain-recorder failed: ${messageOf(error)}`);
    process.exitCode = later === null ? exitCode.failed : exitCode.later;
  }
}
await outputDelivered();
if (outputIsLost()) process.exitCode = exitCode.failed;
// An explicit exit: while Node shuts down by itself it handles no signals, and a second SIGTERM would kill the process.
process.exit();
