import { type FailureKind, UpstreamFailure } from '../../upstreams/failure.ts';
import { jsonText } from '../../upstreams/json.ts';
import type { Ask, Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { json, object, optional, text } from '../fields.ts';
import { entriesOf, memberOf } from '../sources/answer.ts';
import { minute } from '../sources/durations.ts';
import { oneAnswer } from '../sources/one-answer.ts';
import { healthReport } from './health-report.ts';

/** The check that stands for the probe as a whole. */
const WHOLE = '*';

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

/** Why a check failed: a text, or on older nodes an object. */
function errorIn(check: unknown): string | undefined {
  const error = memberOf(check, 'error');
  if (error === undefined || error === null) return undefined;
  const said = memberOf(error, 'message') ?? error;
  return typeof said === 'string' ? said : jsonText(said);
}

/** One item a check, and one for the whole probe. */
function itemsOf(body: unknown): unknown[] {
  const failure = memberOf(body, 'failure');
  if (typeof failure === 'string') {
    const state = memberOf(body, 'nodesFault') === true ? 'down' : 'unknown';
    return [{ checkName: WHOLE, state, error: failure }];
  }
  const checks = entriesOf(memberOf(body, 'checks')).map(([checkName, check]) => {
    const said = errorIn(check);
    // Before its first run a check carries a time in year 1: nobody looked yet (reality.md 4.2).
    if (String(memberOf(check, 'timestamp')).startsWith('0001-'))
      return { checkName, state: 'unknown', error: said ?? 'not yet run' };
    if (said === undefined) return { checkName, state: 'up' };
    return { checkName, state: 'down', error: said, message: memberOf(check, 'message') };
  });
  return [{ checkName: WHOLE, ...wholeOf(body, checks) }, ...checks];
}

/** The probe as a whole: of checks that have not run yet the node cannot say that they fail. */
function wholeOf(body: unknown, checks: readonly { checkName: string; state: string }[]) {
  if (memberOf(body, 'healthy') === true) return { state: 'up' };
  const named = (state: string) =>
    checks.filter((check) => check.state === state).map((check) => check.checkName);
  const [failing, waiting] = [named('down'), named('unknown')];
  if (failing.length === 0 && waiting.length > 0)
    return { state: 'unknown', error: `not yet run: ${waiting.join(', ')}` };
  return { state: 'down', error: `failing: ${failing.join(', ') || 'no check named'}` };
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
