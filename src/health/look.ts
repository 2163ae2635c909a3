import { networkInterfaces } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Clock } from '../clock.ts';
import type { OpenUpstream } from '../recording/context.ts';
import { UpstreamFailure } from '../upstreams/failure.ts';
import { WorkSignal } from '../work-signal.ts';
import { readHealth } from './health-reading.ts';
import type { ActiveLedger } from './node-health.ts';
import type { Look, ProbeTarget } from './prober-context.ts';

/** The longest that a look may take, ms. */
const LONGEST_LOOK = 10_000;

/** Makes the function that looks at nodes over HTTP, each look within its deadline. */
export function lookOver(open: OpenUpstream, ledger: ActiveLedger, clock: Clock, networkUp = hasNetwork) {
  const deadline = Math.min(LONGEST_LOOK, ledger.every - 500);
  return async ({ node, probe }: ProbeTarget, stop: AbortSignal): Promise<Look> => {
    const work = new WorkSignal(stop, deadline);
    const target = { node, probe };
    const began = performance.now();
    let look: Look;
    try {
      const ask = open(
        ledger,
        { target, window: null, reason: 'poll' },
        { weight: 0, priority: 'poll', signal: work.signal, clock },
      );
      look = await firstAnswer(ledger.source.walk(ask, target, null), () => performance.now() - began);
    } catch (error) {
      if (stop.aborted || !(error instanceof UpstreamFailure) || !work.timedOut) throw error;
      look = failed('down', `no whole answer within ${deadline} ms`);
    } finally {
      work.end();
    }
    if (look.state === 'down' && look.checks === null && !networkUp())
      return failed('unknown', `no network interface is up (${look.error})`);
    return look;
  };
}

async function firstAnswer(pages: AsyncIterable<{ body: unknown }>, elapsed: () => number): Promise<Look> {
  for await (const { body } of pages) {
    const latency = elapsed();
    const reading = readHealth(body);
    return { ...reading, latency: reading.checks ? latency : null };
  }
  throw new Error('a look at a node gave no answer');
}

const failed = (state: 'down' | 'unknown', error: string): Look => ({
  state,
  error,
  checks: null,
  latency: null,
});

/** Whether this machine has an address that others could reach. */
function hasNetwork(): boolean {
  return Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ internal }) => !internal));
}
