import type { Ask } from '../datasets/contract.ts';
import { memberOf } from '../datasets/sources/answer.ts';
import { UpstreamFailure } from '../upstreams/failure.ts';

/** Where a probe is asked for: the paths that are tried in turn, then the JSON-RPC method. */
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

/** The statuses of a path or method that a node, or what stands before it, does not serve. */
const NOT_SERVED: ReadonlySet<number | undefined> = new Set([404, 405]);

/**
 * The report of a probe such as `health`, or `health:TAG` for the checks with a tag. Where no GET is served it comes by
 * JSON-RPC.
 * @throws UpstreamFailure when there is no report
 */
export async function healthReport(ask: Ask, probe: string): Promise<unknown> {
  const [name = '', tag] = probe.split(':');
  const { paths, method } = PROBES.get(name) ?? HEALTH;
  for (const path of paths) {
    const { status, body } = await served(ask, path, tag === undefined ? {} : { tag });
    if (!NOT_SERVED.has(status)) return reportIn(body, status);
  }
  return reportIn(await ask.rpc('/ext/health', method, tag === undefined ? undefined : { tags: [tag] }), 200);
}

/** The answer to a GET. An answer that is not JSON counts as one without a body if its status is that of {@link NOT_SERVED}. */
async function served(ask: Ask, path: string, query: Readonly<Record<string, string>>) {
  try {
    return await ask.probe(path, query);
  } catch (error) {
    if (!(error instanceof UpstreamFailure) || !NOT_SERVED.has(error.status)) throw error;
    return { status: error.status ?? 404, body: undefined };
  }
}

function reportIn(body: unknown, status: number): unknown {
  if (typeof memberOf(body, 'healthy') === 'boolean') return body;
  throw new UpstreamFailure(
    status >= 500 ? 'server' : 'malformed',
    `answered ${status} without a health report`,
  );
}
