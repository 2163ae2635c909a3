import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { OpenContender } from './contender.ts';
import { openCopying } from './copying.ts';
import { openDrizzleLoop } from './drizzle-loop.ts';
import { openFetching } from './fetching.ts';
import { openIngest } from './ingest.ts';
import { openMetricPoll, openValidatorPoll } from './polls.ts';

/**
 * One contender in a process of its own, so that none warms another's caches or fills its heap. Arguments: its name and
 * its setup as JSON. Each message from the parent is one timed run.
 */
const contenders: Readonly<Record<string, OpenContender>> = {
  ingest: openIngest,
  fetching: openFetching,
  copying: openCopying,
  drizzleLoop: openDrizzleLoop,
  metricPoll: openMetricPoll,
  validatorPoll: openValidatorPoll,
};
const setupShape = z.object({ serviceUrl: z.string(), databaseUrl: z.string(), rows: z.number() });

process.once('disconnect', () => process.exit()); // the parent is gone
const [name = '', setup = ''] = process.argv.slice(2);
const open = contenders[name];
if (!open) throw new Error(`there is no contender ${name}`);
const contender = await open(setupShape.parse(JSON.parse(setup)));
process.on('message', () => void timed());
process.send?.('ready');

async function timed(): Promise<void> {
  const start = performance.now();
  const rows = await contender.run();
  const milliseconds = performance.now() - start;
  process.send?.({ rows, milliseconds, peakRss: peakRss() });
}

/** The most memory that this process held, in bytes. */
function peakRss(): number {
  // On Linux maxRSS begins with what the parent held when it made this process.
  const status = process.platform === 'linux' ? readFileSync('/proc/self/status', 'utf8') : '';
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1] ?? process.resourceUsage().maxRSS) * 1024;
}
