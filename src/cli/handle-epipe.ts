/**
 * Lets the reader of stdout or stderr close it early, as `head` does, without a failure of the command. What stderr does not take is
 * lost, as lines of the log are.
 * @returns whether stdout could not be written for another reason, such as a full disk, which was told then
 */
export function letReadersLeave(): () => boolean {
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
export async function outputDelivered(): Promise<void> {
  for (const stream of [process.stdout, process.stderr])
    await new Promise<void>((resolve) => stream.write('', () => resolve()));
}
