import type { Recorded, Source, UpstreamClient } from '../datasets/contract.ts';
import { columnsOf } from '../datasets/dataset.ts';
import { json, object, optional, text } from '../datasets/fields.ts';
import { minute } from '../datasets/sources/durations.ts';
import { walkSingleResponse } from '../datasets/sources/single-response.ts';
import type { ConfiguredFeed } from '../recording/active-feed.ts';
import { failureTable, UpstreamFailure } from '../upstreams/failure.ts';
import { shareOf, sharesOf } from './shares.ts';

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
 * Queries the report of a probe such as `health`, or `health:TAG` for the checks with a tag. If no GET is
 * served, the query is repeated by JSON-RPC.
 * @throws UpstreamFailure if there is no report
 */
async function queryHealthReport(client: UpstreamClient, probe: string): Promise<unknown> {
  const [name = '', tag] = probe.split(':');
  const { paths, method } = PROBES.get(name) ?? HEALTH;
  for (const path of paths) {
    try {
      return await client.probe(path, tag === undefined ? {} : { query: { tag } });
    } catch (error) {
      if (!(error instanceof UpstreamFailure) || !NOT_SERVED.has(error.status)) throw error;
    }
  }
  return client.probe('/ext/health', { method, params: tag === undefined ? undefined : { tags: [tag] } });
}

/**
 * The health API. A 503 has the same body as a 200, and a call without a response is recorded, too. The
 * report of the checks with a tag is a separate probe, because this report may be healthy while the node is
 * unhealthy.
 */
const source: Source = {
  name: 'node-health',
  upstream: 'nodes',
  every: minute,
  weight: 0,
  calls: 1,
  targets: ({ observer, shares: count, nodes, tags }) => {
    const shares = sharesOf(observer, count);
    return nodes.flatMap((node) => {
      const share = shareOf(node, shares);
      return [
        'health',
        'readiness',
        'liveness',
        ...(tags[node] ?? []).flatMap((tag) => [`health:${tag}`, `readiness:${tag}`]),
      ].map((probe) => ({ observer: share, node, probe }));
    });
  },
  walk: (client, { probe = 'health' }) => walkSingleResponse(() => queryReportOrFailure(client, probe)),
};

/** Returns the health report, or the failure with the resulting state of the node. */
async function queryReportOrFailure(client: UpstreamClient, probe: string): Promise<unknown> {
  try {
    return await queryHealthReport(client, probe);
  } catch (error) {
    if (!(error instanceof UpstreamFailure) || error.kind === 'cancelled') throw error;
    const { probe: state, network } = failureTable[error.kind];
    return { failure: error.message, state, network };
  }
}

/**
 * The dataset of the prober. The ledger records intervals without changes instead of the responses of runs.
 * Its table is `healthIntervals` (`src/db/schema/health-tables.ts`), its views are in
 * `src/reporting/views/sql/`.
 */
export interface Ledger extends Recorded {
  readonly history: 'ledger';
}

/** The ledger with its configured settings. */
export type ActiveLedger = ConfiguredFeed<Ledger>;

const request = ['observer', 'node', 'probe'];

/** States of each probe of a node and of each of its checks. */
export const nodeHealth: Ledger = {
  name: 'node_health',
  relation: 'node_health',
  about: 'States of each probe of a node and of each of its checks, as intervals without a change.',
  operations: [
    'GET /ext/health',
    'GET /ext/health/health',
    'GET /ext/health/readiness',
    'GET /ext/health/liveness',
    'health.health',
    'health.readiness',
    'health.liveness',
  ],
  history: 'ledger',
  source,
  request,
  key: [...request, 'check_name'],
  columns: columnsOf({
    request,
    item: object({
      checkName: text('A check of the node, or * for the probe as a whole.'),
      state: text('up, down, unknown or maintenance.'),
      error: optional(text('Error of the check.')),
      message: optional(json('Message of a failing check, any JSON.')),
    }),
    rename: {},
  }),
};
