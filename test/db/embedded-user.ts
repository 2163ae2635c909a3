// A process that uses and supervises the embedded PostgreSQL of the directory given: prints one line of JSON once it is served, and
// closes when its standard input ends. A refusal is printed on stderr and ends the process with 2.
import { once } from 'node:events';
import { openEmbedded } from '../../src/db/embedded/embedded.ts';
import { UsageError } from '../../src/lib/errors.ts';

const ignore = () => {};
const stop = new AbortController();
try {
  const server = await openEmbedded({ dir: process.argv[2] ?? '', log: { info: ignore, warn: ignore } });
  const supervised = server.supervise(stop.signal);
  const { url, started } = server;
  process.stdout.write(`${JSON.stringify({ url, started })}\n`);
  await Promise.race([once(process.stdin.resume(), 'end'), supervised]);
  stop.abort();
  await supervised;
  await server.close();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
