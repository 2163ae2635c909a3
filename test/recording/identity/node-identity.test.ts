import { afterEach, expect } from 'vitest';
import { sourceChanged } from '../../../src/alerts/rules/findings.ts';
import { activeFeeds, activeLedgers, catalogNames } from '../../../src/app/configured-feeds.ts';
import { createUpstreamOpener } from '../../../src/app/upstream-opener.ts';
import { validateConfig } from '../../../src/config/load.ts';
import { createProbeQuery } from '../../../src/health/probe-node.ts';
import type { ActiveFeed } from '../../../src/recording/active-feed.ts';
import { registerAll } from '../../../src/recording/register.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { recordingContext, run } from '../../support/scripted-feed.ts';
import type { UpstreamServer } from '../../support/upstream-server.ts';
import { A, B } from './identity-situations.ts';
import { nodeServer, type ReportedNode } from './node-server.ts';

const { it, sql } = withDatabase({ max: 4 });

const clock = new ManualClock(Date.now());
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A URL behind which a node responds, selected again for each request; it is closed after the test. */
async function startNode(
  selectNode: (request: number) => ReportedNode,
  hasHeader = true,
  isRefused?: (request: number) => boolean,
): Promise<UpstreamServer> {
  const server = await nodeServer(selectNode, hasHeader, isRefused);
  closers.push(server.close);
  return server;
}

/** Probes a node of a name at a URL, a minute after the previous probe. */
function createProbe(name: string, url: string) {
  const config = validateConfig(
    { network: 'mainnet', upstreams: { nodes: [{ name, url }] } },
    catalogNames,
    'test',
  );
  const [ledger] = activeLedgers(config);
  if (!ledger) throw new Error('node_health is not active');
  const keys = { chainDataKey: undefined, metricsKey: undefined };
  const query = createProbeQuery(createUpstreamOpener(config, keys, sql, clock.read), ledger, clock.read);
  return (after = 60_000) => {
    clock.now += after;
    return query({ node: name, probe: 'health' }, new AbortController().signal);
  };
}

it.each([true, false])(
  'counts a probe that another node answers for its id, not for the configured name (header: %s)',
  async (hasHeader) => {
    let node: ReportedNode = { id: A };
    const { url, close } = await startNode(() => node, hasHeader);
    const probe = createProbe(`probed-${hasHeader}`, url);
    const expectedA = { state: 'up' };
    const expectedB = {
      state: 'unknown',
      error: expect.stringContaining(`another node: ${B}`),
      other: { nodeId: B, result: { state: 'up', latency: expect.any(Number) } },
    };
    expect(await probe()).toMatchObject(expectedA);
    node = { id: B };
    for (let times = 0; times < 2; times++) expect(await probe()).toMatchObject(expectedB);
    node = { id: A };
    await probe();
    expect(await probe()).toMatchObject(expectedA);
    expect(await probe(1_000)).not.toHaveProperty('other');
    node = { id: B, network: 5 };
    for (let times = 0; times < 2; times++) {
      const reading = await probe();
      expect(reading).toMatchObject({ state: 'unknown', error: expect.stringContaining('another network') });
      expect(reading, 'a node of another network is not recorded').not.toHaveProperty('other');
    }
    node = { id: B };
    clock.now += 120_000;
    expect(await probe()).toMatchObject(expectedB);
    await close();
    expect(await probe(), 'it was the other one that answered here last').toMatchObject({
      state: 'unknown',
      other: { nodeId: B, result: { state: 'down' } },
    });
  },
);

it.each([
  ['seven-requests-each', (request: number) => (request % 14 < 7 ? A : B), ['up', B], null],
  [
    'each-third-request',
    (request: number) => (request % 3 < 2 ? A : B),
    ['unknown'],
    expect.stringContaining(B),
  ],
])(
  'counts each probe of two nodes behind one URL for the node that responded: %s',
  async (name, selectId, expected, difference) => {
    let requests = 0;
    const { url } = await startNode(() => ({ id: selectId(requests++) }));
    const probe = createProbe(name, url);
    const sources = new Set<string>();
    for (let times = 0; times < 12; times++) {
      const first = selectId(requests);
      const { state, other } = await probe();
      sources.add(other?.nodeId ?? state);
      if (state === 'up') expect(first).toBe(A);
      if (other) expect([first, other.nodeId]).toEqual([B, B]);
    }
    expect([...sources]).toEqual(expected);
    const [binding] = await sql`select difference from recorder.node_bindings where node = ${name}`;
    expect(binding).toEqual({ difference });
  },
);

it.each([1, 20, 49])(
  'detects within 50 s that another node responds without the header, %i s after it was verified',
  async (after) => {
    let node: ReportedNode = { id: A };
    const { url } = await startNode(() => node, false);
    const probe = createProbe(`unmarked-${after}`, url);
    expect(await probe()).toMatchObject({ state: 'up' });
    expect(await probe(after * 1_000)).toMatchObject({ state: 'up' });
    node = { id: B };
    let elapsed = 0;
    for (let isNoticed = false; !isNoticed && elapsed < 300_000; elapsed += 1_000)
      isNoticed = (await probe(1_000)).other?.nodeId === B;
    expect(elapsed).toBeLessThanOrEqual(50_000);
  },
);

let recorders = 0;

/** A recorder of two datasets of one node, whose configuration the test may change. */
async function createRecorder(
  url: string,
  more: { nodeId?: string; network?: string } = {},
  sources = ['node-identity', 'connected-peers'],
) {
  recorders += 1;
  const name = `node-${recorders}`;
  const createFeeds = ({
    url: nodeUrl,
    nodeId,
    network = 'mainnet',
  }: {
    url: string;
    nodeId?: string;
    network?: string;
  }) => {
    const config = validateConfig(
      { network, upstreams: { nodes: [{ name, url: nodeUrl, ...(nodeId ? { nodeId } : {}) }] } },
      catalogNames,
      'test',
    );
    const feeds = activeFeeds(config).filter(({ source }) => sources.includes(source.name));
    const keys = { chainDataKey: undefined, metricsKey: undefined };
    return {
      feeds,
      context: {
        ...recordingContext(sql, clock.read),
        open: createUpstreamOpener(config, keys, sql, clock.read),
      },
    };
  };
  let current = createFeeds({ url, ...more });
  await registerAll(sql, current.feeds, clock.now, { recorder: name, digest: null });
  const poll = async () => {
    clock.now += 61_000;
    return Promise.all(current.feeds.map((feed: ActiveFeed) => run(current.context, feed)));
  };
  return {
    name,
    poll,
    statuses: async () => (await poll()).map(({ status }) => status),
    configure: (change: { url: string; nodeId?: string; network?: string }) => {
      current = createFeeds(change);
    },
    /** The nodes whose rows are recorded under the name, by every column with a node. */
    selectNodes: async () => {
      const rows = await sql<{ node_id: string | null; ip: string; version: string }[]>`
        select node_id, ip, version from recorder.node_identity where node = ${name}
        union all select null, ip, version from recorder.peers where node = ${name}`;
      return new Set(
        rows.flatMap((row) =>
          Object.values(row).flatMap((text) => /NodeID-\w+/.exec(String(text))?.[0] ?? []),
        ),
      );
    },
    findings: async () => [
      ...(await sql`
      select component, dataset, reason from reporting.findings where subject = ${name} or subject = ${`node=${name}`} order by component, dataset`),
    ],
    alerts: async () =>
      (await sourceChanged.evaluate({ sql } as never)).filter(({ subject }) => subject.includes(name)),
  };
}

/** The expected report of a node that is another one. */
async function expectReported(
  { findings, alerts }: Awaited<ReturnType<typeof createRecorder>>,
  reason: RegExp,
) {
  const reported = await findings();
  expect(reported.map(({ component, dataset }) => dataset ?? component)).toEqual(
    expect.arrayContaining(['node', 'node_identity', 'peers']),
  );
  for (const { reason: text } of reported) expect(text).toMatch(reason);
  expect(await alerts()).toEqual([expect.objectContaining({ summary: expect.stringMatching(reason) })]);
}

it('requests the node id first and last in a run that joins calls without the header', async () => {
  const { url, received } = await startNode(() => ({ id: A }), false);
  const recorder = await createRecorder(url, {}, ['node-identity']);
  expect(await recorder.statuses()).toEqual(['done']);
  const methods = received.map(({ body }) => String(JSON.parse(body).method));
  expect(methods.length).toBeGreaterThan(6);
  expect([methods[0], methods.at(-1)]).toEqual(['info.getNodeID', 'info.getNodeID']);
});

it.each([
  { reported: 'only once', refuses: (request: number) => request > 1, status: 'failed' },
  { reported: 'but for each third request', refuses: (request: number) => request % 3 === 2, status: 'done' },
])(
  'a run of a node without the header is $status if its id is reported $reported',
  async ({ refuses, status }) => {
    let requests = 0;
    const { url } = await startNode(
      () => ({ id: A }),
      false,
      () => refuses(++requests),
    );
    const recorder = await createRecorder(url, {}, ['connected-peers']);
    expect(await recorder.statuses()).toEqual([status]);
  },
);

it('binds a name to another node if the configuration requires it', async () => {
  let node: ReportedNode = { id: A };
  const { url } = await startNode(() => node);
  const recorder = await createRecorder(url, { nodeId: B });
  expect(await recorder.statuses()).toEqual(['failed', 'failed']);
  expect(await recorder.selectNodes()).toEqual(new Set());
  recorder.configure({ url, nodeId: A });
  expect(await recorder.statuses()).toEqual(['done', 'done']);
  node = { id: B };
  expect(await recorder.statuses()).toEqual(['failed', 'failed']);
  recorder.configure({ url, nodeId: B });
  expect(await recorder.statuses()).toEqual(['done', 'done']);
  expect(await recorder.findings()).toEqual([]);
});

it('does not record a node of another network at its first run', async () => {
  let network = 12_345;
  const { url } = await startNode(() => ({ id: A, network }));
  const recorder = await createRecorder(url);
  const expectRefused = async (reason: RegExp) => {
    expect(await recorder.statuses()).toEqual(['failed', 'failed']);
    expect(await recorder.selectNodes()).toEqual(new Set());
    await expectReported(recorder, reason);
  };
  await expectRefused(/another network: .* the network with the id 12345/);
  network = 5;
  await expectRefused(/another network: .* belongs to the network fuji/);
  recorder.configure({ url, network: 'fuji' });
  expect(await recorder.statuses()).toEqual(['done', 'done']);
  recorder.configure({ url, network: 'mainnet' });
  expect(await recorder.statuses()).toEqual(['failed', 'failed']);
});

it('never joins two nodes behind one URL in concurrent runs, in any order of their calls', async () => {
  const selectIndex = (request: number) => ((request * 7919) >> 3) % 2;
  for (const hasHeader of [true, false]) {
    const { url } = await startNode((request) => ({ id: selectIndex(request) === 0 ? A : B }), hasHeader);
    const recorder = await createRecorder(url);
    for (let polls = 0; polls < 6; polls++) await recorder.poll();
    const recorded = await recorder.selectNodes();
    expect(recorded.size).toBeLessThanOrEqual(1);
    expect((await recorder.findings()).map(({ component }) => component)).toContain('node');
    expect(await recorder.alerts()).toHaveLength(1);
    const [id = A] = recorded;
    const single = await startNode(() => ({ id }), hasHeader);
    recorder.configure({ url: single.url, nodeId: id });
    expect(await recorder.statuses()).toEqual(['done', 'done']);
    expect(await recorder.findings()).toEqual([]);
    expect(await recorder.selectNodes()).toEqual(new Set([id]));
  }
});
