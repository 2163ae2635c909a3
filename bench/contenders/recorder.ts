import { hostname } from 'node:os';
import { limitHeapGrowth, limitYoungGeneration } from '../../src/daemon/heap.ts';
import { openDatabase } from '../../src/db/client.ts';
import { SharedBudget } from '../../src/db/shared-budget.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { RecordingContext } from '../../src/recording/context.ts';
import { UpstreamSession } from '../../src/upstreams/upstream-session.ts';
import type { Setup } from './contender.ts';

/**
 * Connects the recorder's own parts like a command, without configuration and queue.
 * @param address current address of the services
 */
export function openRecorder(
  { databaseUrl, serviceUrl }: Setup,
  address = () => serviceUrl,
): RecordingContext {
  limitYoungGeneration();
  limitHeapGrowth();
  const { sql, commits } = openDatabase(databaseUrl);
  const settings = {
    name: 'bench',
    redact: (text: string) => text,
    headers: {},
    budget: new SharedBudget(
      sql,
      { upstream: 'bench', endpoint: '' },
      { perMinute: undefined, perDay: undefined },
      systemClock,
    ),
    deadline: 30_000,
    maxBytes: 64 * 1024 * 1024,
  };
  return {
    sql,
    commits,
    clock: systemClock,
    worker: `${hostname()}/${process.pid}`,
    open: (_feed, _job, options) => new UpstreamSession({ ...settings, url: address() }, options),
  };
}
