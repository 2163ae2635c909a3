import fc from 'fast-check';
import type postgres from 'postgres';
import { sourceChanged } from '../../../src/alerts/rules/findings.ts';
import { activeFeeds, activeLedgers, catalogNames } from '../../../src/app/configured-feeds.ts';
import { createUpstreamOpener } from '../../../src/app/upstream-opener.ts';
import { validateConfig } from '../../../src/config/load.ts';
import { createProbeQuery } from '../../../src/health/probe-node.ts';
import { loadStates, planAll } from '../../../src/recording/plan.ts';
import { registerAll } from '../../../src/recording/register.ts';
import { statusOf } from '../../../src/reporting/reports/status.ts';
import type { ManualClock } from '../../support/clock.ts';
import { recordingContext, run } from '../../support/scripted-feed.ts';
import { nodeServer, type ReportedNode } from './node-server.ts';

const SOURCES = ['node-identity', 'connected-peers', 'p-blocks'];
const FUJI_NETWORK_ID = 5;
export const A = 'NodeID-ZSgv3H2FvSopL9oT5cWzenMc8ebsQAoU';
export const B = 'NodeID-5haT5BS98VcXvMdJm3Je5Jsk9rFk5qGMj';

/** A URL, and the node that responds there, selected again for each request. */
interface Endpoint {
  readonly url: string;
  selectNode: (request: number) => ReportedNode;
}

let worlds = 0;

/** Two nodes of one network, two URLs and a spare one, and a recorder of both nodes by their names. */
export async function identityWorld(sql: postgres.Sql, clock: ManualClock, hasHeader: boolean) {
  worlds += 1;
  const names: readonly string[] = [`x-${worlds}`, `y-${worlds}`];
  const chain = { head: 10 };
  const node = (id: string): ReportedNode => ({ id, head: chain.head });
  const closers: (() => Promise<void>)[] = [];
  const openEndpoint = async (selectNode: Endpoint['selectNode']): Promise<Endpoint> => {
    const endpoint: { url: string; selectNode: Endpoint['selectNode'] } = { url: '', selectNode };
    const server = await nodeServer((request) => endpoint.selectNode(request), hasHeader);
    closers.push(server.close);
    endpoint.url = server.url;
    return endpoint;
  };
  const endpoints = [
    await openEndpoint(() => node(A)),
    await openEndpoint(() => node(B)),
    await openEndpoint(() => node(A)),
  ] as const;
  const urls = new Map(names.map((name, at) => [name, endpoints[at]?.url ?? '']));
  const createRecorder = () => {
    const nodes = [...urls].map(([name, url]) => ({ name, url }));
    const config = validateConfig({ network: 'mainnet', upstreams: { nodes } }, catalogNames, 'test');
    const keys = { chainDataKey: undefined, metricsKey: undefined };
    const opener = createUpstreamOpener(config, keys, sql, clock.read);
    const feeds = activeFeeds(config).filter(({ source }) => SOURCES.includes(source.name));
    const [ledger] = activeLedgers(config);
    if (!ledger) throw new Error('node_health is not active');
    const queryProbe = createProbeQuery(opener, ledger, clock.read);
    return { feeds, queryProbe, context: { ...recordingContext(sql, clock.read), open: opener } };
  };
  let recorder = createRecorder();
  await registerAll(sql, recorder.feeds, clock.now, { recorder: `identity-${worlds}`, digest: null });
  return {
    names,
    endpoints,
    chain,
    node,
    close: async () => {
      for (const close of closers) await close();
    },
    /** Changes the URLs of names in the configuration, as a restart of the recorder with another one does. */
    configure(changed: Readonly<Record<string, string>>) {
      for (const [name, url] of Object.entries(changed)) urls.set(name, url);
      recorder = createRecorder();
    },
    /** Polls every dataset of each name `after` ms and probes it; the chain has grown. Returns the outcomes by name. */
    async poll(after = 61_000) {
      clock.now += after;
      chain.head += 2;
      const outcomes: Record<string, string[]> = {};
      for (const feed of recorder.feeds) {
        const states = await loadStates(sql, feed);
        for (const target of feed.targets) {
          const targetFeed = { ...feed, targets: [target] };
          const [job] = planAll(targetFeed, [target], states, clock.now);
          const { status } = await run(recorder.context, targetFeed, job?.window ?? null);
          const name = target.node ?? '';
          outcomes[name] = [...(outcomes[name] ?? []), status];
        }
      }
      const readings = await Promise.all(
        names.map((name) =>
          recorder.queryProbe({ node: name, probe: 'health' }, new AbortController().signal),
        ),
      );
      return { outcomes, readings: new Map(names.map((name, at) => [name, readings[at]])) };
    },
    /** Sources of the rows of a name: node ids, and the chains of blocks. */
    async authors(name: string): Promise<ReadonlySet<string>> {
      const rows = await sql<{ author: string }[]>`
        select node_id as author from recorder.node_identity where node = ${name}
        union select ip from recorder.node_identity where node = ${name}
        union select version from recorder.node_identity where node = ${name}
        union select version from recorder.peers where node = ${name}
        union select txs::text from recorder.p_blocks where node = ${name}
        union select regexp_replace(id, '-[0-9]+$', '') from recorder.p_blocks where node = ${name} and height > 0`;
      return new Set(rows.map(({ author }) => /NodeID-\w+/.exec(author)?.[0] ?? author));
    },
    /** The heights of the recorded blocks of a name. */
    async heights(name: string): Promise<number[]> {
      const rows = await sql<{ height: number }[]>`
        select height::int from recorder.p_blocks where node = ${name} order by height`;
      return rows.map(({ height }) => height);
    },
    /** The number of failures that `status` shows. */
    countFailing: async () => (await statusOf(sql, [])).failing_targets,
    /** The identity problems of a name in freshness, findings and the alert. */
    async selectReports(name: string) {
      const concerns = (subject: string) => subject.includes(name);
      const fresh = await sql<{ reason: string }[]>`
        select reason from reporting.freshness where target = ${`node=${name}`} and failures > 0`;
      const findings = await sql<{ component: string; reason: string }[]>`
        select component, reason from reporting.findings where subject in (${name}, ${`node=${name}`})`;
      const alerts = await sourceChanged.evaluate({ sql } as never);
      return {
        freshness: fresh.map(({ reason }) => reason),
        findings: [...findings],
        alerts: alerts.filter(({ subject }) => concerns(subject)).map(({ summary }) => summary),
      };
    },
  };
}

export type IdentityWorld = Awaited<ReturnType<typeof identityWorld>>;

/** A situation in which another source responds, and its end. */
export interface Situation {
  readonly kind: keyof typeof reasons;
  /** 0 or 1: the name that is affected. */
  readonly nodeIndex: number;
  readonly polls: number;
  /** The end is another URL in the configuration instead of the return of the node. */
  readonly byConfiguration: boolean;
  /** Responses of a load balancer, as bits. */
  readonly pattern: number;
  /** Number of blocks that a snapshot lacks, and that another chain is ahead. */
  readonly blocks: number;
}

/** The reported reason of each situation. */
export const reasons = {
  swapped: /another node: NodeID-\w+ responds at the URL of/,
  network: /another network: .* belongs to the network fuji/,
  genesis: /another genesis: .*genesis-2, and genesis-1 is recorded/,
  snapshot: /another chain, or an older state of it: the newest block is \d+/,
  moved: /another node: NodeID-\w+ responds at the URL of/,
  alternating: /another node: NodeID-\w+ (responds at the URL of|and NodeID-\w+ respond at the URL of)/,
} as const;

const KINDS = ['swapped', 'network', 'genesis', 'snapshot', 'moved', 'alternating'] as const;

type Kind = Situation['kind'];

/** All situations, in any order. */
export const anyOrder: fc.Arbitrary<Kind[]> = fc.shuffledSubarray([...KINDS], { minLength: KINDS.length });

/** Six orders of all situations, in which each situation directly follows each other one once. */
export const balancedOrders = KINDS.map((_, shift) =>
  [0, 1, 5, 2, 4, 3].flatMap((place) => KINDS[(place + shift) % KINDS.length] ?? []),
);

/** Random properties of situations in an order. */
export const situationsOf = (kinds: readonly Kind[]): fc.Arbitrary<Situation[]> =>
  fc.tuple(
    ...kinds.map((kind) =>
      fc.record({
        kind: fc.constant(kind),
        nodeIndex: fc.integer({ min: 0, max: 1 }),
        polls: fc.integer({ min: 1, max: 3 }),
        byConfiguration: fc.boolean(),
        pattern: fc.integer({ min: 1, max: 254 }),
        blocks: fc.integer({ min: 1, max: 40 }),
      }),
    ),
  );

/**
 * Starts a situation.
 * @returns the affected names, and the function that ends it
 */
export function startSituation(
  world: IdentityWorld,
  { kind, nodeIndex, byConfiguration, pattern, blocks }: Situation,
) {
  const { names, endpoints, chain, node, configure } = world;
  const [home, other, spare] =
    nodeIndex === 0 ? endpoints : ([endpoints[1], endpoints[0], endpoints[2]] as const);
  const [name = '', neighbour = ''] = nodeIndex === 0 ? names : [names[1], names[0]];
  const [own, foreign] = nodeIndex === 0 ? [A, B] : [B, A];
  const restore = () => {
    home.selectNode = () => node(own);
    other.selectNode = () => node(foreign);
  };
  /** Ends the situation by the URL at which the node responds now, or by its return. */
  const createEnd = (url: string) => () => {
    if (!byConfiguration) return restore();
    spare.selectNode = () => node(own);
    configure({ [name]: url });
    // The previous URL is free again.
    return () => {
      restore();
      configure({ [name]: home.url });
    };
  };
  const ownSituation = { concerned: [name], end: createEnd(spare.url) };
  switch (kind) {
    case 'swapped':
      home.selectNode = () => node(foreign);
      other.selectNode = () => node(own);
      return {
        concerned: [name, neighbour],
        end: () => {
          if (!byConfiguration) return restore();
          configure({ [name]: other.url, [neighbour]: home.url });
          return () => {
            restore();
            configure({ [name]: home.url, [neighbour]: other.url });
          };
        },
      };
    case 'network':
      home.selectNode = () => ({
        ...{ id: own, network: FUJI_NETWORK_ID, genesis: 'genesis-5', head: chain.head + blocks },
      });
      return ownSituation;
    case 'genesis':
      home.selectNode = () => ({ id: own, genesis: 'genesis-2', head: chain.head + blocks });
      return ownSituation;
    case 'snapshot': {
      // The chain grows by two blocks with each poll, so that the snapshot stays behind what is recorded.
      const head = Math.max(0, chain.head - blocks);
      home.selectNode = () => ({ id: own, head });
      return ownSituation;
    }
    case 'moved':
      spare.selectNode = () => node(own);
      home.selectNode = () => node(foreign);
      return ownSituation;
    case 'alternating':
      home.selectNode = (request) => node(((pattern >> (request % 8)) & 1) === 0 ? own : foreign);
      return ownSituation;
  }
}
