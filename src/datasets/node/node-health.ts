import { type FailureKind, UpstreamFailure } from '../../upstreams/failure.ts';
import type { Ask, Source } from '../contract.ts';
import { defineDataset } from '../dataset.ts';
import { json, object, optional, text } from '../fields.ts';
import { entriesOf, memberOf } from '../sources/answer.ts';
import { minute } from '../sources/durations.ts';

const PATHS: Readonly<Record<string, string>> = {
  health: '/ext/health',
  readiness: '/ext/health/readiness',
  liveness: '/ext/health/liveness',
};

/** The check that stands for the probe as a whole. */
const WHOLE = '*';

/** Failures that are the node's own; every other leaves the state unknown. */
const NODES_FAULT: ReadonlySet<FailureKind> = new Set<FailureKind>([
  'refused',
  'reset',
  'timeout',
  'server',
  'malformed',
  'tls',
]);

/** The health API (seed node-rpc 4.4): a 503 carries the same body as a 200, and no answer is an answer too. */
const source: Source = {
  name: 'node-health',
  upstream: 'nodes',
  every: minute,
  weight: 0,
  calls: 1,
  targets: ({ observer, nodes }) =>
    nodes.flatMap((node) => Object.keys(PATHS).map((probe) => ({ observer, node, probe }))),
  async *walk(ask, { probe = 'health' }) {
    yield { body: await look(ask, PATHS[probe] ?? '/ext/health'), proven: null, last: true, whole: true };
  },
};

async function look(ask: Ask, path: string): Promise<unknown> {
  try {
    const { status, body } = await ask.probe(path);
    const healthy = memberOf(body, 'healthy');
    if (typeof healthy !== 'boolean')
      throw new UpstreamFailure(
        status >= 500 ? 'server' : 'malformed',
        `answered ${status} without a health report`,
      );
    return body;
  } catch (error) {
    if (!(error instanceof UpstreamFailure) || error.kind === 'cancelled') throw error;
    return { failure: error.message, nodesFault: NODES_FAULT.has(error.kind) };
  }
}

/** One item a check, and one for the whole probe. */
function itemsOf(body: unknown): unknown[] {
  const failure = memberOf(body, 'failure');
  if (typeof failure === 'string') {
    const state = memberOf(body, 'nodesFault') === true ? 'down' : 'unknown';
    return [{ checkName: WHOLE, state, error: failure }];
  }
  const checks = entriesOf(memberOf(body, 'checks')).map(([checkName, check]) => {
    const error = memberOf(check, 'error');
    const said =
      typeof error === 'string'
        ? error
        : error === undefined || error === null
          ? undefined
          : JSON.stringify(error);
    // Before its first run a check carries an error and a time in year 1: nobody looked yet (reality.md 4.2).
    const neverRun = String(memberOf(check, 'timestamp')).startsWith('0001-');
    if (said === undefined) return { checkName, state: 'up' };
    return {
      checkName,
      state: neverRun ? 'unknown' : 'down',
      error: said,
      message: memberOf(check, 'message'),
    };
  });
  const failing = checks.filter((check) => check.state === 'down').map((check) => check.checkName);
  const whole =
    memberOf(body, 'healthy') === true
      ? { checkName: WHOLE, state: 'up' }
      : { checkName: WHOLE, state: 'down', error: `failing: ${failing.join(', ') || 'no check named'}` };
  return [whole, ...checks];
}

export const nodeHealth = defineDataset({
  name: 'node_health',
  about: 'What each probe of a node and each of its checks said, as intervals in which nothing changed.',
  seed: 'node-rpc 4.4',
  operations: ['GET /ext/health', 'GET /ext/health/readiness', 'GET /ext/health/liveness'],
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
