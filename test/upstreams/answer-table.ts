import { readHealth } from '../../src/health/health-reading.ts';
import { nodeHealth } from '../../src/health/node-health.ts';
import { unmetered } from '../../src/upstreams/budget.ts';
import { checkNode } from '../../src/upstreams/examine-node.ts';
import { UpstreamFailure } from '../../src/upstreams/failure.ts';
import { UpstreamSession } from '../../src/upstreams/upstream-session.ts';
import { type UpstreamServer, upstreamServer } from '../support/upstream-server.ts';

/** One combination of the table, and the state that the table requires. */
export interface ResponseCase {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly state: 'up' | 'down' | 'unknown';
  readonly name: string;
}

export const BODIES = {
  'a healthy report': '{"checks":{"C":{"timestamp":"2026-01-01T00:00:00Z"}},"healthy":true}',
  'an unhealthy report': '{"checks":{"C":{"error":"late"}},"healthy":false}',
  'an empty body': '',
  'a page': '<html><body>Log in</body></html>',
  'other JSON': '{"status":"ok","healthy":"yes"}',
  'a JSON-RPC error': '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"not available"}}',
  'half a report': '{"checks":{"C":{"timest',
};
const HEADERS: readonly Readonly<Record<string, string>>[] = [
  { 'content-type': 'application/json; charset=utf-8' },
  {
    'content-type': 'application/json',
    'retry-after': '3600',
    location: '/login',
    'www-authenticate': 'Basic',
    via: '1.1 proxy',
  },
];
/** A report of another type is no report. */
const PAGE_TYPE = { 'content-type': 'text/html' };
const STATUSES = [
  ...[200, 201, 202, 204, 301, 302, 304, 307, 308, 400, 401, 402, 403, 404, 405, 407],
  ...[408, 410, 418, 429, 451, 500, 501, 502, 503, 504, 511, 520, 600, 999],
];

/** Whether a response with the status comes from a failing node, and not from a proxy. */
export const isOfFailingNode = (status: number) => status >= 500 && status < 600 && status !== 511;

/** The rule, written from the requirement and not from the code. */
function expectedState(status: number, body: keyof typeof BODIES, type: string): ResponseCase['state'] {
  const isAnalyzed = (status < 300 && status !== 204) || isOfFailingNode(status);
  if (isAnalyzed && /json/.test(type) && body === 'a healthy report') return 'up';
  if (isAnalyzed && /json/.test(type) && body === 'an unhealthy report') return 'down';
  return isOfFailingNode(status) ? 'down' : 'unknown';
}

const names = Object.keys(BODIES).filter((name): name is keyof typeof BODIES => name in BODIES);
const caseOf = (
  status: number,
  body: keyof typeof BODIES,
  headers: ResponseCase['headers'],
): ResponseCase => ({
  status,
  body: BODIES[body],
  headers,
  state: expectedState(status, body, headers['content-type'] ?? ''),
  name: `${status} with ${body} and ${JSON.stringify(headers)}`,
});
/** All combinations of the table. */
export const cases: readonly ResponseCase[] = STATUSES.flatMap((status) => [
  ...names.flatMap((body) => HEADERS.map((headers) => caseOf(status, body, headers))),
  caseOf(status, 'a healthy report', PAGE_TYPE),
]);

/** Starts a server in which each case is a path below which everything has the same response. */
export function startCaseServer(): Promise<UpstreamServer> {
  return upstreamServer(({ url }, response) => {
    const one = cases[Number(url.pathname.split('/')[1])];
    if (!one) return response.destroy();
    response.writeHead(one.status, one.headers).end(one.body);
  });
}

function session(url: string, deadline = 20_000): UpstreamSession {
  return new UpstreamSession(
    { name: 'node', url, headers: {}, redact: (text) => text, budget: unmetered, deadline, maxBytes: 1e6 },
    { weight: 0, priority: 'poll', signal: new AbortController().signal, clock: Date.now },
  );
}

/** The message of the node's probe. */
export async function probe(url: string, deadline?: number) {
  const target = { observer: 'o', node: 'n', probe: 'health' };
  for await (const { body } of nodeHealth.source.walk(session(url, deadline), target, null))
    return readHealth(body);
  throw new Error('no page');
}

/** The failure of a run, which calls a method; null: the run succeeds. */
export async function runFailure(url: string, deadline?: number): Promise<UpstreamFailure | null> {
  const error = await session(url, deadline)
    .rpc('/ext/info', 'info.getNetworkID')
    .then(
      () => null,
      (reason: unknown) => reason,
    );
  if (error !== null && !(error instanceof UpstreamFailure)) throw error;
  return error;
}

/** The result of `doctor` for the health API of a node whose other APIs respond alike. */
export async function examine(url: string, timeout = 20_000): Promise<string> {
  const { checked } = await checkNode(
    {
      name: 'nodes/n',
      url,
      setting: 'upstreams.nodes[0].url',
      kind: 'node',
      key: null,
      headers: {},
      timeout,
      redact: (text) => text,
      signal: new AbortController().signal,
    },
    { network: 'mainnet', apis: new Set(['health']) },
  );
  return checked.map(({ found }) => found).join('\n');
}

const MAX_CONCURRENT = 60;

/** Calls the function for each case, some concurrently. */
export async function mapCases<T>(call: (at: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const work = async () => {
    for (let at = next++; at < cases.length; at = next++) results[at] = await call(at);
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, work));
  return results;
}
