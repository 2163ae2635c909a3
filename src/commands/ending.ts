/** Lets the reader of stdout or stderr leave early, as `head` does: what it does not read any more is no failure. */
export function letReadersLeave(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
}

/** Resolves once all that was written to stdout and stderr is with its reader, however slow, or the reader has left. */
export async function outputDelivered(): Promise<void> {
  for (const stream of [process.stdout, process.stderr])
    await new Promise<void>((resolve) => stream.write('', () => resolve()));
}
