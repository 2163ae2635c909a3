import { type FailureKind, UpstreamFailure } from '../../upstreams/failure.ts';
import { parseJson } from '../../upstreams/json.ts';
import type { Ask, Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { json, object, optional, text } from '../fields.ts';
import { minute } from '../sources/durations.ts';
import { oneAnswer } from '../sources/one-answer.ts';
import { readHealth, WHOLE } from './health-reading.ts';
import { healthReport } from './health-report.ts';

/** Failures that are the node's own; every other leaves the state unknown. */
const NODES_FAULT: ReadonlySet<FailureKind> = new Set<FailureKind>([
  'refused',
  'reset',
  'timeout',
  'server',
  'malformed',
  'rpc',
  'tls',
]);

/**
 * The health API (seed node-rpc 4.4): a 503 carries the same body as a 200, and no answer is an answer too. A report of
 * the checks with a tag is a probe of its own: it may be healthy while the node is not.
 */
const source: Source = {
  name: 'node-health',
  upstream: 'nodes',
  every: minute,
  weight: 0,
  calls: 1,
  targets: ({ observer, nodes, tags }) =>
    nodes.flatMap((node) =>
      [
        'health',
        'readiness',
        'liveness',
        ...(tags[node] ?? []).flatMap((tag) => [`health:${tag}`, `readiness:${tag}`]),
      ].map((probe) => ({ observer, node, probe })),
    ),
  walk: (ask, { probe = 'health' }) => oneAnswer(() => look(ask, probe)),
};

async function look(ask: Ask, probe: string): Promise<unknown> {
  try {
    return await healthReport(ask, probe);
  } catch (error) {
    if (!(error instanceof UpstreamFailure) || error.kind === 'cancelled') throw error;
    return { failure: error.message, nodesFault: NODES_FAULT.has(error.kind) };
  }
}

/** One item a check, and one for the whole probe. */
function itemsOf(body: unknown): unknown[] {
  const { state, error, checks } = readHealth(body);
  const items = (checks ?? []).map(({ name, state, error, message }) => ({
    checkName: name,
    state,
    error,
    message: message === null ? null : parseJson(message),
  }));
  return [{ checkName: WHOLE, state, error }, ...items];
}

export const nodeHealth = defineDataset({
  name: 'node_health',
  about: 'What each probe of a node and each of its checks said, as intervals in which nothing changed.',
  seed: 'node-rpc 4.4',
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
  request: ['observer', 'node', 'probe'],
  key: ['observer', 'node', 'probe', 'check_name'],
  items: itemsOf,
  item: object({
    checkName: text('A check of the node, or * for the probe as a whole.'),
    state: text('up, down, unknown (nobody could tell) or maintenance.'),
    error: optional(text('Why the check failed.')),
    message: optional(json('What a failing check said, any JSON.')),
  }),
  example: {
    checkName: 'network',
    state: 'down',
    error: 'not connected to a minimum of 1 peer(s)',
    message: { connectedPeers: 0 },
  },
});

export const { table: nodeHealthTable } = nodeHealth;
