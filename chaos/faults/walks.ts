import type { WalkKind } from '../../sandbox/faults/kinds.ts';
import { covered } from '../invariants/coverage.ts';
import { dayOf, midnight, UNCLAIMED_DAYS } from '../settings.ts';
import { Steady } from '../steady.ts';
import { until } from '../until.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

const OPERATION = 'listPrimaryNetworkBlocksByNodeId';
const DAYS = 1;

/** A recorder whose walks through blocks all have this behaviour from the start, in pages of this many items. */
function startWalking(
  world: World,
  kinds: Partial<Record<WalkKind, number>>,
  pageSize: number,
): Promise<Steady> {
  world.sandbox.faults.rate(kinds, { operation: OPERATION });
  const datasets = {
    proposed_blocks: { every: '5s', since: dayOf(midnight(DAYS + UNCLAIMED_DAYS)), pageSize },
  };
  return Steady.start(world, { watch: 1, days: DAYS, datasets });
}

const countServed = ({ sandbox }: World, kind: WalkKind) => sandbox.ledger.faults()[kind] ?? 0;

/** Refusals of a token so far. */
const countTokenRefusals = ({ sandbox }: World) =>
  sandbox.ledger.calls({ operation: OPERATION }).filter(({ status }) => status === 400).length;

async function expectNoFalseClaims(world: World, when: string): Promise<void> {
  for (const problem of await covered.check(world)) world.evidence.claim(`${when}: ${problem}`, false);
}

const reversed: Fault = {
  numbers: [62],
  title: 'lists in reverse order, one item a page, an expired token',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E', 'X'],
  async inject(world) {
    const { evidence, sandbox } = world;
    const steady = await startWalking(world, { 'reversed-one-dead': 1 }, 100);
    await until('walks to die', () => countServed(world, 'reversed-one-dead') >= 12);
    await expectNoFalseClaims(world, 'while tokens expire');
    evidence.figures.set('dead tokens', countTokenRefusals(world));
    sandbox.faults.clear();
    // These two are complete in the end, so that everything is recorded from them.
    sandbox.faults.rate({ 'list-reversed': 0.5, 'page-of-one': 1 }, { operation: OPERATION });
    await steady.waitUntilCovered();
    await expectNoFalseClaims(world, 'while lists are sorted the other way');
    sandbox.faults.clear();
    await steady.expectRecovery('the lists were right again');
    await steady.stop();
  },
};

/** Tokens that expire, or are always the same for a place, during the whole recording. */
const unsteady = (kind: WalkKind, title: string): Fault => ({
  numbers: [63],
  title,
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E', 'X'],
  sandbox: { blocksPerHour: 12 },
  async inject(world) {
    const { evidence } = world;
    const startedAt = Date.now();
    const steady = await startWalking(world, { [kind]: 1 }, 5);
    await steady.waitUntilCovered();
    evidence.figures.set('all was recorded after', `${Date.now() - startedAt} ms`);
    const refusals = countTokenRefusals(world);
    evidence.figures.set('dead tokens', refusals);
    if (kind.endsWith('seventh')) evidence.claim('tokens died', refusals > 0);
    await steady.expectRecovery('all was recorded');
    await steady.stop();
  },
});

export const walkFaults: readonly Fault[] = [
  reversed,
  unsteady('token-dies-seventh', 'tokens that die after every seventh page, forever'),
  unsteady('token-of-place', 'tokens that are a function of the place'),
  unsteady('place-token-dies-seventh', 'tokens of a place that die after every seventh page, forever'),
];
