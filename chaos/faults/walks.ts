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
function walking(world: World, kinds: Partial<Record<WalkKind, number>>, pageSize: number): Promise<Steady> {
  world.sandbox.faults.rate(kinds, { operation: OPERATION });
  const datasets = {
    proposed_blocks: { every: '5s', since: dayOf(midnight(DAYS + UNCLAIMED_DAYS)), pageSize },
  };
  return Steady.start(world, { watch: 1, days: DAYS, datasets });
}

const served = ({ sandbox }: World, kind: WalkKind) => sandbox.ledger.faults()[kind] ?? 0;

/** Refusals of a token so far. */
const deadTokens = ({ sandbox }: World) =>
  sandbox.ledger.calls({ operation: OPERATION }).filter(({ status }) => status === 400).length;

async function nothingIsClaimed(world: World, when: string): Promise<void> {
  for (const problem of await covered.check(world)) world.evidence.claim(`${when}: ${problem}`, false);
}

const reversed: Fault = {
  numbers: [62],
  title: 'lists in reverse order, one item a page, an expired token',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E', 'X'],
  async inject(world) {
    const { evidence, sandbox } = world;
    const steady = await walking(world, { 'reversed-one-dead': 1 }, 100);
    await until('walks to die', () => served(world, 'reversed-one-dead') >= 12);
    await nothingIsClaimed(world, 'while tokens expire');
    evidence.figures.set('dead tokens', deadTokens(world));
    sandbox.faults.clear();
    // These two are complete in the end, so that everything is recorded from them.
    sandbox.faults.rate({ 'list-reversed': 0.5, 'page-of-one': 1 }, { operation: OPERATION });
    await steady.whole();
    await nothingIsClaimed(world, 'while lists are sorted the other way');
    sandbox.faults.clear();
    await steady.recovers('the lists were right again');
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
    const begun = Date.now();
    const steady = await walking(world, { [kind]: 1 }, 5);
    await steady.whole();
    evidence.figures.set('all was recorded after', `${Date.now() - begun} ms`);
    const dead = deadTokens(world);
    evidence.figures.set('dead tokens', dead);
    if (kind.endsWith('seventh')) evidence.claim('tokens died', dead > 0);
    await steady.recovers('all was recorded');
    await steady.stop();
  },
});

export const walkFaults: readonly Fault[] = [
  reversed,
  unsteady('token-dies-seventh', 'tokens that die after every seventh page, forever'),
  unsteady('token-of-place', 'tokens that are a function of the place'),
  unsteady('place-token-dies-seventh', 'tokens of a place that die after every seventh page, forever'),
];
