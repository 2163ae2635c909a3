/** Lets the reader of stdout or stderr close it early, as `head` does, without a failure of the command. */
export function letReadersLeave(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
}

/** Resolves when the readers of stdout and stderr have received everything, or have closed them. */
export async function outputDelivered(): Promise<void> {
  for (const stream of [process.stdout, process.stderr])
    await new Promise<void>((resolve) => stream.write('', () => resolve()));
}
