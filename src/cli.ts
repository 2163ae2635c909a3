#!/usr/bin/env node
import { exitCode } from './app/exit-code.ts';
import { runCommandLine } from './cli/run-command-line.ts';
import { limitYoungGeneration } from './daemon/heap.ts';
import { outliveLostConnections } from './db/postgres-workarounds/unhandled-rejections.ts';
import { raiseConnectTimeout } from './lib/connect-timeout.ts';

const outputIsLost = handleEpipe();

limitYoungGeneration();

outliveLostConnections();

raiseConnectTimeout();

await runCommandLine(process.argv.slice(2));
await waitForOutput();
if (outputIsLost()) process.exitCode = exitCode.failed;
// The exit is explicit. During its own shutdown, Node.js handles no signals, so a second SIGTERM would kill
// the process.
process.exit();

/**
 * Handles a reader that closes stdout or stderr early, such as `head`, so that the command does not fail.
 * Output to a closed stderr is lost, including log lines.
 * @returns a function that returns true if stdout failed for another reason, such as a full disk, and the
 * error was printed
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

/** Waits until the readers of stdout and stderr have received everything, or have closed these streams. */
async function waitForOutput(): Promise<void> {
  for (const stream of [process.stdout, process.stderr])
    await new Promise<void>((resolve) => stream.write('', () => resolve()));
}
