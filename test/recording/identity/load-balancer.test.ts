import { expect } from 'vitest';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { A, B, identityWorld } from './identity-situations.ts';

const { it, sql } = withDatabase({ max: 4 });

const clock = new ManualClock(Date.now());
const C = 'NodeID-111111111111111111116DBWJs';

/** Returns a deterministic generator of numbers from 0 to 1. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Returns a round robin whose turn also advances by requests of other clients. */
function sharedRoundRobin(): () => string {
  const random = createRandom(7);
  let turn = 0;
  return () => {
    turn += 1 + Math.floor(random() * 3);
    return turn % 2 === 0 ? A : B;
  };
}

/** Load balancers, each as the node that it selects for a request. */
const balancers: Readonly<Record<string, () => (request: number) => string>> = {
  'round robin of two': () => (request) => (request % 2 === 0 ? A : B),
  'round robin of three': () => (request) => [A, B, C][request % 3] ?? A,
  'round robin, shared with other clients': sharedRoundRobin,
  'three requests each': () => (request) => (Math.floor(request / 3) % 2 === 0 ? A : B),
  'one request of eight to the other': () => (request) => (request % 8 === 5 ? B : A),
  'random halves': () => {
    const random = createRandom(1);
    return () => (random() < 0.5 ? A : B);
  },
  'random, one fifth to the other': () => {
    const random = createRandom(2);
    return () => (random() < 0.2 ? B : A);
  },
};

const moments = ['at first sight', 'between two surveys'] as const;

it.each([
  ...Object.keys(balancers).flatMap((name) => moments.map((moment) => ({ name, moment, hasHeader: false }))),
  ...moments.map((moment) => ({ name: 'random halves', moment, hasHeader: true })),
])(
  'reports a load balancer at the first poll and stores no row of another node: $name, $moment (header: $hasHeader)',
  async ({ name, moment, hasHeader }) => {
    const world = await identityWorld(sql, clock, hasHeader);
    const [node = ''] = world.names;
    const [endpoint] = world.endpoints;
    const selectNodes = async () =>
      [...(await world.authors(node))].filter((author) => author !== 'genesis-1');
    try {
      if (moment !== 'at first sight') await world.poll();
      const selectId = balancers[name]?.() ?? (() => A);
      endpoint.selectNode = (request) => world.node(selectId(request));
      for (let polls = 0; polls < 2; polls++) {
        const { readings } = await world.poll(moment === 'between two surveys' ? 10_000 : 61_000);
        expect((await selectNodes()).length).toBeLessThanOrEqual(1);
        expect(hasHeader || readings.get(node)?.state === 'unknown').toBe(true);
        const { findings, alerts } = await world.selectReports(node);
        expect(findings).toContainEqual(
          expect.objectContaining({ component: 'node', reason: expect.stringMatching(/^another node: /) }),
        );
        expect(alerts).toHaveLength(1);
      }
      // The first run without two ids has bound the name.
      const [bound] = await sql<{ id: string | null }[]>`
        select node_id as id from recorder.node_bindings where node = ${node}`;
      const own = bound?.id ?? A;
      endpoint.selectNode = () => world.node(own);
      clock.now += 120_000;
      const { outcomes } = await world.poll();
      expect(outcomes[node]).toEqual(['done', 'done', 'done']);
      expect(await selectNodes()).toEqual([own]);
      expect(await world.selectReports(node)).toEqual({ freshness: [], findings: [], alerts: [] });
    } finally {
      await sql`update recorder.target_datasets set active = false`;
      await world.close();
    }
  },
);
