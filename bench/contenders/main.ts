import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { OpenContender } from './contender.ts';
import { openBlockCopy } from './copy-blocks.ts';
import { openListCopy } from './copy-lists.ts';
import { openDrizzleLoop } from './drizzle-loop.ts';
import { openBlockFetch } from './fetch-blocks.ts';
import { openListFetch } from './fetch-lists.ts';
import { openIngest } from './ingest.ts';
import { openListRecorder } from './list-recorder.ts';
import { openMetricPoll, openValidatorPoll } from './polls.ts';

/**
 * One contender in its own process, so that none warms another's caches or fills its heap. Arguments: its name and its
 * setup as JSON. Each message from the parent, the number of a round, is one timed run.
 */
const contenders: Readonly<Record<string, OpenContender>> = {
  ingest: openIngest,
  fetching: openBlockFetch,
  copying: openBlockCopy,
  drizzleLoop: openDrizzleLoop,
  listRecorder: openListRecorder,
  listFetching: openListFetch,
  listCopying: openListCopy,
  metricPoll: openMetricPoll,
  validatorPoll: openValidatorPoll,
};
const setupShape = z.object({
  serviceUrl: z.string(),
  databaseUrl: z.string(),
  rows: z.number(),
  list: z.string().optional(),
});

process.once('disconnect', () => process.exit()); // the parent has ended
const [name = '', setup = ''] = process.argv.slice(2);
const open = contenders[name];
if (!open) throw new Error(`there is no contender ${name}`);
const contender = await open(setupShape.parse(JSON.parse(setup)));
process.on('message', (round) => void runTimed(Number(round)));
process.send?.('ready');

async function runTimed(round: number): Promise<void> {
  const start = performance.now();
  const rows = await contender.run(round);
  const milliseconds = performance.now() - start;
  process.send?.({ rows, milliseconds, peakRss: peakRss() });
}

/** Maximum memory of this process, in bytes. */
function peakRss(): number {
  // On Linux maxRSS starts with the memory of the parent at the fork.
  const status = process.platform === 'linux' ? readFileSync('/proc/self/status', 'utf8') : '';
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1] ?? process.resourceUsage().maxRSS) * 1024;
}
