import { performance } from 'node:perf_hooks';
import type { Clock } from '../clock.ts';
import { memberOf } from '../datasets/sources/answer.ts';
import type { Asked, OpenUpstream } from '../recording/context.ts';
import { UpstreamFailure } from '../upstreams/failure.ts';
import { WorkSignal } from '../work-signal.ts';
import { readHealth } from './health-reading.ts';
import type { ActiveLedger } from './node-health.ts';
import type { Look, ProbeTarget } from './prober-context.ts';

const MAX_LOOK_MS = 10_000;

/**
 * Returns the function that looks at nodes over HTTP, each look within its deadline.
 * @param isCutOff whether the network, and not the node, may be the cause of a failure; default: never
 */
export function lookOver(
  open: OpenUpstream,
  ledger: ActiveLedger,
  clock: Clock,
  isCutOff: (node: string) => Promise<boolean> = async () => false,
) {
  const deadline = Math.min(MAX_LOOK_MS, ledger.every - 500);
  return async ({ node, probe }: ProbeTarget, stop: AbortSignal): Promise<Look> => {
    const work = new WorkSignal(stop, deadline);
    const target = { node, probe };
    const began = performance.now();
    let body: unknown;
    let latency = 0;
    try {
      const ask = open(
        ledger,
        { target, window: null, reason: 'poll' },
        { weight: 0, priority: 'poll', signal: work.signal, clock },
      );
      body = await firstBody(ledger.source.walk(ask, target, null));
      latency = performance.now() - began;
      body = await ofItsNode(ask, body);
    } catch (error) {
      if (stop.aborted || !(error instanceof UpstreamFailure) || !work.timedOut) throw error;
      body = { failure: `no whole answer within ${deadline} ms`, state: 'down', network: true };
    } finally {
      work.end();
    }
    const reading = readHealth(body);
    if (reading.state === 'down' && memberOf(body, 'network') === true && (await isCutOff(node)))
      return { state: 'unknown', error: `${CUT_OFF} (${reading.error})`, checks: null, latency: null };
    return { ...reading, latency: reading.checks ? latency : null };
  };
}

/** The body, or the failure that another node answered: its state is not that of the node. */
async function ofItsNode(ask: Asked, body: unknown): Promise<unknown> {
  try {
    await ask.verifySlowly?.();
    return body;
  } catch (error) {
    if (!(error instanceof UpstreamFailure) || error.kind !== 'identity') return body;
    return { failure: error.message, state: 'unknown', network: false };
  }
}

const CUT_OFF = 'no upstream can be reached over the network: the recorder is cut off';

async function firstBody(pages: AsyncIterable<{ body: unknown }>): Promise<unknown> {
  for await (const { body } of pages) return body;
  throw new Error('the health source returned no page');
}
