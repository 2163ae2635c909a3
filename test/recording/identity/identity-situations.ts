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
const NETWORK_OF_FUJI = 5;
export const A = 'NodeID-ZSgv3H2FvSopL9oT5cWzenMc8ebsQAoU';
export const B = 'NodeID-5haT5BS98VcXvMdJm3Je5Jsk9rFk5qGMj';

/** A URL, and the node that responds there, selected again for each request. */
interface Place {
  readonly url: string;
  answering: (request: number) => ReportedNode;
}

let worlds = 0;

/** Two nodes of one network, two URLs and a spare one, and a recorder of both nodes by their names. */
export async function identityWorld(sql: postgres.Sql, clock: ManualClock, hasHeader: boolean) {
  worlds += 1;
  const names: readonly string[] = [`x-${worlds}`, `y-${worlds}`];
  const chain = { head: 10 };
  const node = (id: string): ReportedNode => ({ id, head: chain.head });
  const closers: (() => Promise<void>)[] = [];
  const open = async (answering: Place['answering']): Promise<Place> => {
    const place: { url: string; answering: Place['answering'] } = { url: '', answering };
    const server = await nodeServer((request) => place.answering(request), hasHeader);
    closers.push(server.close);
    place.url = server.url;
    return place;
  };
  const places = [await open(() => node(A)), await open(() => node(B)), await open(() => node(A))] as const;
  const urls = new Map(names.map((name, at) => [name, places[at]?.url ?? '']));
  const configured = () => {
    const nodes = [...urls].map(([name, url]) => ({ name, url }));
    const config = validateConfig({ network: 'mainnet', upstreams: { nodes } }, catalogNames, 'test');
    const keys = { chainDataKey: undefined, metricsKey: undefined };
    const opener = createUpstreamOpener(config, keys, sql, clock.read);
    const feeds = activeFeeds(config).filter(({ source }) => SOURCES.includes(source.name));
    const [ledger] = activeLedgers(config);
    if (!ledger) throw new Error('node_health is not active');
    const look = createProbeQuery(opener, ledger, clock.read);
    return { feeds, look, context: { ...recordingContext(sql, clock.read), open: opener } };
  };
  let now = configured();
  await registerAll(sql, now.feeds, clock.now, { recorder: `identity-${worlds}`, digest: null });
  return {
    names,
    places,
    chain,
    node,
    close: async () => {
      for (const close of closers) await close();
    },
    /** Changes the URLs of names in the configuration, as a restart of the recorder with another one does. */
    configure(changed: Readonly<Record<string, string>>) {
      for (const [name, url] of Object.entries(changed)) urls.set(name, url);
      now = configured();
    },
    /** Polls every dataset of each name `after` ms and probes it; the chain has grown. Returns the outcomes by name. */
    async poll(after = 61_000) {
      clock.now += after;
      chain.head += 2;
      const outcomes: Record<string, string[]> = {};
      for (const feed of now.feeds) {
        const states = await loadStates(sql, feed);
        for (const target of feed.targets) {
          const only = { ...feed, targets: [target] };
          const [job] = planAll(only, [target], states, clock.now);
          const { status } = await run(now.context, only, job?.window ?? null);
          const name = target.node ?? '';
          outcomes[name] = [...(outcomes[name] ?? []), status];
        }
      }
      const looks = await Promise.all(
        names.map((name) => now.look({ node: name, probe: 'health' }, new AbortController().signal)),
      );
      return { outcomes, looks: new Map(names.map((name, at) => [name, looks[at]])) };
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
    failing: async () => (await statusOf(sql, [])).failing_targets,
    /** The identity problems of a name in freshness, findings and the alert. */
    async reported(name: string) {
      const about = (subject: string) => subject.includes(name);
      const fresh = await sql<{ reason: string }[]>`
        select reason from reporting.freshness where target = ${`node=${name}`} and failures > 0`;
      const findings = await sql<{ component: string; reason: string }[]>`
        select component, reason from reporting.findings where subject in (${name}, ${`node=${name}`})`;
      const alerts = await sourceChanged.evaluate({ sql } as never);
      return {
        freshness: fresh.map(({ reason }) => reason),
        findings: [...findings],
        alerts: alerts.filter(({ subject }) => about(subject)).map(({ summary }) => summary),
      };
    },
  };
}

export type IdentityWorld = Awaited<ReturnType<typeof identityWorld>>;

/** A situation in which another source responds, and its end. */
export interface Situation {
  readonly kind: keyof typeof reasons;
  /** 0 or 1: the name that is affected. */
  readonly which: number;
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

/** All situations, in any order. */
export const situations: fc.Arbitrary<Situation[]> = fc
  .shuffledSubarray([...KINDS], { minLength: KINDS.length })
  .chain((kinds) =>
    fc.tuple(
      ...kinds.map((kind) =>
        fc.record({
          kind: fc.constant(kind),
          which: fc.integer({ min: 0, max: 1 }),
          polls: fc.integer({ min: 1, max: 3 }),
          byConfiguration: fc.boolean(),
          pattern: fc.integer({ min: 1, max: 254 }),
          blocks: fc.integer({ min: 1, max: 40 }),
        }),
      ),
    ),
  );

/**
 * Starts a situation.
 * @returns the affected names, and the function that ends it
 */
export function startSituation(
  world: IdentityWorld,
  { kind, which, byConfiguration, pattern, blocks }: Situation,
) {
  const { names, places, chain, node, configure } = world;
  const [home, other, spare] = which === 0 ? places : ([places[1], places[0], places[2]] as const);
  const [name = '', neighbour = ''] = which === 0 ? names : [names[1], names[0]];
  const [own, foreign] = which === 0 ? [A, B] : [B, A];
  const restore = () => {
    home.answering = () => node(own);
    other.answering = () => node(foreign);
  };
  /** Ends the situation by the URL at which the node responds now, or by its return. */
  const moveTo = (url: string) => () => {
    if (!byConfiguration) return restore();
    spare.answering = () => node(own);
    configure({ [name]: url });
    // The previous URL is free again.
    return () => {
      restore();
      configure({ [name]: home.url });
    };
  };
  const only = { concerned: [name], end: moveTo(spare.url) };
  switch (kind) {
    case 'swapped':
      home.answering = () => node(foreign);
      other.answering = () => node(own);
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
      home.answering = () => ({
        ...{ id: own, network: NETWORK_OF_FUJI, genesis: 'genesis-5', head: chain.head + blocks },
      });
      return only;
    case 'genesis':
      home.answering = () => ({ id: own, genesis: 'genesis-2', head: chain.head + blocks });
      return only;
    case 'snapshot': {
      // The chain grows by two blocks with each poll, so that the snapshot stays behind what is recorded.
      const head = Math.max(0, chain.head - blocks);
      home.answering = () => ({ id: own, head });
      return only;
    }
    case 'moved':
      spare.answering = () => node(own);
      home.answering = () => node(foreign);
      return only;
    case 'alternating':
      home.answering = (request) => node(((pattern >> (request % 8)) & 1) === 0 ? own : foreign);
      return only;
  }
}
