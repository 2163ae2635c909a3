import type { UpstreamClient } from '../datasets/contract.ts';
import { UpstreamFailure } from '../upstreams/failure.ts';

/** Endpoints of a probe: paths in the order of attempts, then the JSON-RPC method. */
interface Probe {
  readonly paths: readonly string[];
  readonly method: string;
}

const HEALTH: Probe = { paths: ['/ext/health', '/ext/health/health'], method: 'health.health' };
const PROBES: ReadonlyMap<string, Probe> = new Map([
  ['health', HEALTH],
  ['readiness', { paths: ['/ext/health/readiness'], method: 'health.readiness' }],
  ['liveness', { paths: ['/ext/health/liveness'], method: 'health.liveness' }],
]);

/** Statuses of a path or method that a node, or a proxy in front of the node, does not serve. */
const NOT_SERVED: ReadonlySet<number | undefined> = new Set([404, 405]);

/**
 * Queries the report of a probe such as `health`, or `health:TAG` for the checks with a tag. If no GET is served, the
 * query is repeated by JSON-RPC.
 * @throws UpstreamFailure if there is no report
 */
export async function queryHealthReport(ask: UpstreamClient, probe: string): Promise<unknown> {
  const [name = '', tag] = probe.split(':');
  const { paths, method } = PROBES.get(name) ?? HEALTH;
  for (const path of paths) {
    try {
      return await ask.probe(path, tag === undefined ? {} : { query: { tag } });
    } catch (error) {
      if (!(error instanceof UpstreamFailure) || !NOT_SERVED.has(error.status)) throw error;
    }
  }
  return ask.probe('/ext/health', { method, params: tag === undefined ? undefined : { tags: [tag] } });
}
