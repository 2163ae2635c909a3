import fc from 'fast-check';
import type postgres from 'postgres';
import { expect } from 'vitest';
import { ManualClock } from '../../support/clock.ts';
import {
  A,
  B,
  type IdentityWorld,
  identityWorld,
  reasons,
  type Situation,
  startSituation,
} from './identity-situations.ts';

/** Time after which an unconfirmed difference has ended, in ms. */
const DIFFERENCE_EXPIRY_MS = 120_000;
const DONE = ['done', 'done', 'done'];

/** Every stored row of a name is from its own node and chain. */
async function expectOwnHistory({ names, authors, heights }: IdentityWorld) {
  for (const [at, name] of names.entries()) {
    expect(await authors(name)).toEqual(new Set([[A, B][at], 'genesis-1']));
    const recorded = await heights(name);
    expect(recorded).toEqual(recorded.map((_, place) => (recorded[0] ?? 0) + place));
  }
}

async function expectHealthy(world: IdentityWorld) {
  const { outcomes, readings } = await world.poll();
  for (const name of world.names) {
    expect(outcomes[name]).toEqual(DONE);
    expect(readings.get(name)?.state).toBe('up');
    expect(await world.selectReports(name)).toEqual({ freshness: [], findings: [], alerts: [] });
    expect((await world.heights(name)).at(-1), 'recording continues').toBe(world.chain.head);
  }
  expect(await world.countFailing()).toBe(0);
  await expectOwnHistory(world);
}

/**
 * Applies situations to two nodes, one after the other. No row of one source is stored in the history of another, each
 * situation is reported, and recording continues after its end.
 */
export async function checkIdentitySituations(
  sql: postgres.Sql,
  hasHeader: boolean,
  situations: fc.Arbitrary<Situation[]>,
): Promise<void> {
  const clock = new ManualClock(Date.now());
  await fc.assert(
    fc.asyncProperty(situations, async (selected) => {
      const world = await identityWorld(sql, clock, hasHeader);
      try {
        await expectHealthy(world);
        for (const situation of selected) {
          const { kind, polls } = situation;
          const { concerned, end } = startSituation(world, situation);
          for (let times = 0; times < polls + (kind === 'alternating' ? 1 : 0); times++) {
            const { readings } = await world.poll();
            await expectOwnHistory(world);
            if (kind === 'alternating' || kind === 'snapshot') continue;
            for (const name of concerned)
              expect(readings.get(name)?.state, `${kind}: ${name}`).toBe('unknown');
          }
          for (const name of world.names) {
            const { freshness, findings, alerts } = await world.selectReports(name);
            if (!concerned.includes(name)) {
              expect([freshness, findings, alerts], `${kind} does not concern ${name}`).toEqual([[], [], []]);
              continue;
            }
            // A load balancer may let the last run of each dataset succeed.
            if (kind !== 'alternating')
              expect(freshness, kind).toContainEqual(expect.stringMatching(reasons[kind]));
            expect(findings).toContainEqual(
              expect.objectContaining({
                component: kind === 'snapshot' ? 'target' : 'node',
                reason: expect.stringMatching(reasons[kind]),
              }),
            );
            expect(alerts).toContainEqual(expect.stringMatching(reasons[kind]));
            expect(await world.countFailing()).toBeGreaterThan(0);
          }
          const restore = end();
          clock.now += DIFFERENCE_EXPIRY_MS;
          await expectHealthy(world);
          if (!restore) continue;
          restore();
          await expectHealthy(world);
        }
      } finally {
        await sql`update recorder.target_datasets set active = false`;
        await world.close();
      }
    }),
    { numRuns: 1, endOnFailure: true },
  );
}
