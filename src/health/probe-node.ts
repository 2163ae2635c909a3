import { performance } from 'node:perf_hooks';
import { memberOf } from '../datasets/sources/answer.ts';
import { WorkSignal } from '../lib/abort-scope.ts';
import type { Clock } from '../lib/clock.ts';
import type { Asked, OpenUpstream } from '../recording/context.ts';
import { AnotherNode } from '../recording/identity/node-guard.ts';
import { UpstreamFailure } from '../upstreams/failure.ts';
import { readHealth } from './health-reading.ts';
import type { ActiveLedger } from './node-health.ts';
import type { Look, ProbeTarget } from './prober-context.ts';

const MAX_LOOK_MS = 10_000;

/**
 * Returns a function that queries the probes of nodes over HTTP, each within its timeout.
 * @param isCutOff returns whether the network, and not the node, may be the cause of a failure. Default:
 * never.
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
    let another: UpstreamFailure | null = null;
    try {
      const ask = open(
        ledger,
        { target, window: null, reason: 'poll' },
        { weight: 0, priority: 'poll', signal: work.signal, clock },
      );
      body = await firstBody(ledger.source.walk(ask, target, null));
      latency = performance.now() - began;
      another = await identityFailure(ask);
    } catch (error) {
      if (stop.aborted || !(error instanceof UpstreamFailure) || !work.timedOut) throw error;
      body = { failure: `no whole answer within ${deadline} ms`, state: 'down', network: true };
    } finally {
      work.end();
    }
    const reading = readHealth(body);
    const mayBeNetwork = reading.state === 'down' && memberOf(body, 'network') === true;
    const look: Look =
      mayBeNetwork && (await isCutOff(node))
        ? { state: 'unknown', error: `${CUT_OFF} (${reading.error})`, checks: null, latency: null }
        : { ...reading, latency: reading.checks ? latency : null };
    return another ? lookOfAnother(another, look) : look;
  };
}

/** Returns the failure if another node than the configured one responded. Returns null otherwise. */
async function identityFailure(ask: Asked): Promise<UpstreamFailure | null> {
  try {
    await ask.verifySlowly?.();
    return null;
  } catch (error) {
    return error instanceof UpstreamFailure && error.kind === 'identity' ? error : null;
  }
}

/** Returns the result for a name while another node responds: unknown, and the result of that node. */
function lookOfAnother(failure: UpstreamFailure, look: Omit<Look, 'other'>): Look {
  const unknown = readHealth({ failure: failure.message, state: 'unknown' });
  const nodeId = failure instanceof AnotherNode ? failure.nodeId : null;
  return { ...unknown, latency: null, ...(nodeId === null ? {} : { other: { nodeId, look } }) };
}

const CUT_OFF = 'no upstream can be reached over the network: the recorder is cut off';

async function firstBody(pages: AsyncIterable<{ body: unknown }>): Promise<unknown> {
  for await (const { body } of pages) return body;
  throw new Error('the health source returned no page');
}
