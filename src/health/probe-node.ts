import { performance } from 'node:perf_hooks';
import { getMember } from '../datasets/sources/answer.ts';
import { AbortScope } from '../lib/abort-scope.ts';
import type { Clock } from '../lib/clock.ts';
import type { OpenUpstream, RunClient } from '../recording/context.ts';
import { AnotherNode } from '../recording/identity/node-guard.ts';
import { UpstreamFailure } from '../upstreams/failure.ts';
import { readHealth } from './health-reading.ts';
import type { ActiveLedger } from './node-health.ts';
import type { ProbeQueryResult, ProbeTarget } from './prober-context.ts';

const QUERY_TIMEOUT_MS = 10_000;

/**
 * Returns a function that queries the probes of nodes over HTTP, each within its timeout.
 * @param isCutOff returns whether the network, and not the node, may be the cause of a failure. Default:
 * never.
 */
export function createProbeQuery(
  open: OpenUpstream,
  ledger: ActiveLedger,
  clock: Clock,
  isCutOff: (node: string) => Promise<boolean> = async () => false,
) {
  const deadline = Math.min(QUERY_TIMEOUT_MS, ledger.every - 500);
  return async ({ node, probe }: ProbeTarget, stop: AbortSignal): Promise<ProbeQueryResult> => {
    const work = new AbortScope(stop, deadline);
    const target = { node, probe };
    const began = performance.now();
    let body: unknown;
    let latency = 0;
    let another: UpstreamFailure | null = null;
    try {
      const client = open(
        ledger,
        { target, window: null, reason: 'poll' },
        { weight: 0, priority: 'poll', signal: work.signal, clock },
      );
      body = await firstBody(ledger.source.walk(client, target, null));
      latency = performance.now() - began;
      another = await identityFailure(client);
    } catch (error) {
      if (stop.aborted || !(error instanceof UpstreamFailure) || !work.timedOut) throw error;
      body = { failure: `no complete response within ${deadline} ms`, state: 'down', network: true };
    } finally {
      work.end();
    }
    const reading = readHealth(body);
    const mayBeNetwork = reading.state === 'down' && getMember(body, 'network') === true;
    const result: ProbeQueryResult =
      mayBeNetwork && (await isCutOff(node))
        ? { state: 'unknown', error: `${CUT_OFF_ERROR} (${reading.error})`, checks: null, latency: null }
        : { ...reading, latency: reading.checks ? latency : null };
    return another ? toOtherNodeResult(another, result) : result;
  };
}

/** Returns the failure if another node than the configured one responded. Returns null otherwise. */
async function identityFailure(client: RunClient): Promise<UpstreamFailure | null> {
  try {
    await client.verifySlowly?.();
    return null;
  } catch (error) {
    return error instanceof UpstreamFailure && error.kind === 'identity' ? error : null;
  }
}

/**
 * Returns the result of a configured name while another node responds. The state of the name is `unknown`.
 * The result of the other node is added if its id is known.
 */
function toOtherNodeResult(
  failure: UpstreamFailure,
  result: Omit<ProbeQueryResult, 'other'>,
): ProbeQueryResult {
  const unknown = readHealth({ failure: failure.message, state: 'unknown' });
  const nodeId = failure instanceof AnotherNode ? failure.nodeId : null;
  return { ...unknown, latency: null, ...(nodeId === null ? {} : { other: { nodeId, result } }) };
}

const CUT_OFF_ERROR = 'no upstream can be reached over the network: the recorder is cut off';

async function firstBody(pages: AsyncIterable<{ body: unknown }>): Promise<unknown> {
  for await (const { body } of pages) return body;
  throw new Error('the source of health reports returned no response');
}
