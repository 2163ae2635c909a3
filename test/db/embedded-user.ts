// A process that uses the embedded PostgreSQL of the directory given: says so in one line of JSON, and closes when its
// standard input ends.
import { once } from 'node:events';
import { openEmbedded } from '../../src/db/embedded.ts';

const ignore = () => {};
const server = await openEmbedded({ dir: process.argv[2] ?? '', log: { info: ignore, warn: ignore } });
process.stdout.write(`${JSON.stringify({ url: server.url, started: server.started })}\n`);
await once(process.stdin.resume(), 'end');
await server.close();
