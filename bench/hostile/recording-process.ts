import { z } from 'zod';
import { outliveLostConnections } from '../../src/db/postgres-workarounds/unhandled-rejections.ts';
import { ReadGate } from '../../src/db/read-gate.ts';
import { ProcessCounts } from '../../src/server/metrics/process-counts.ts';
import { servePagesOf } from '../../test/support/page-server.ts';
import { openIngest } from '../contenders/ingest.ts';

/**
 * A recorder as a process of the benchmark: it serves pages, and records all blocks on each message of its parent.
 * Argument: its setup as JSON. Sends its address to its parent, then the duration of each recording, in ms.
 */
outliveLostConnections();
const setup = z
  .object({ serviceUrl: z.string(), databaseUrl: z.string(), rows: z.number() })
  .parse(JSON.parse(process.argv[2] ?? ''));
process.once('disconnect', () => process.exit()); // the parent has ended
const ingest = await openIngest(setup);
const counts = new ProcessCounts();
process.on('message', () => void runTimed());
const { address } = await servePagesOf(setup.databaseUrl, {
  gate: new ReadGate(setup.databaseUrl, { yields: true }),
  recording: () => counts.recording,
});
process.send?.({ address, pid: process.pid });

async function runTimed(): Promise<void> {
  const start = performance.now();
  const rows = await counts.during(() => ingest.run(1));
  process.send?.({ rows, milliseconds: performance.now() - start });
}
