import { ManualClock } from '../../sandbox/clock.ts';
import { inProcess } from '../in-process.ts';
import { EchoingUpstream } from '../servers/echoing-upstream.ts';
import { blockTargets, DAY } from '../settings.ts';
import { Steady } from '../steady.ts';
import { until } from '../until.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

const START = Date.UTC(2026, 0, 10);
const OPERATION = 'listPrimaryNetworkBlocksByNodeId';

const aged: Fault = {
  numbers: [20],
  title: 'the page token expires in a backfill (24 h on the injected clock)',
  backends: 'any',
  invariants: ['A', 'B', 'C'],
  short: true,
  async inject(world) {
    const { evidence } = world;
    const { clock, sandbox } = await openAgingSandbox(world);
    const nodeIds = sandbox.network.validators.nodes.slice(0, 2).map(({ nodeId }) => nodeId);
    const window = { from: START - 4 * DAY, to: START - 3 * DAY };
    world.watched.push(...blockTargets(nodeIds, window.from, window.to));
    const recorder = await inProcess(world, { datasets: { proposed_blocks: {} }, nodeIds }, clock.now);
    const feed = recorder.feed('proposed-blocks');
    for (const target of feed.targets) {
      const before = sandbox.ledger.count(OPERATION);
      const refusalsBefore = countTokenRefusals(world);
      const result = await recorder.run(feed, { target, window, reason: 'backfill' });
      const calls = sandbox.ledger.count(OPERATION) - before;
      evidence.claim(
        `the run continued: ${result.status}`,
        result.status === 'done' || result.status === 'partial',
      );
      evidence.serve('token of 24 h', countTokenRefusals(world) - refusalsBefore);
      evidence.claim('one restart of the window', countTokenRefusals(world) - refusalsBefore <= 1);
      // A restart requests the rest, not everything: pages of a day, one expired token, one page twice.
      evidence.bound('calls for a window', calls, result.pages + 1);
    }
  },
};

/** Lets 24 hours pass once in the middle of every walk: after its third page. */
async function openAgingSandbox(world: World) {
  const clock = new ManualClock(START);
  const sandbox = await world.openSandbox(
    { clock: clock.now, blocksPerHour: 60, genesisMs: START - 60 * DAY },
    (call) => {
      if (call.operation === OPERATION && world.calls.get(keyOf(call.target)) === 3) clock.advance(DAY);
    },
  );
  return { clock, sandbox };
}

const keyOf = (target: string) => {
  const [, chain, node] = /\/blockchains\/([^/]+)\/nodes\/([^/?]+)\/blocks/.exec(target) ?? [];
  return `${chain} ${node}`;
};

/** Refusals of a token so far. */
const countTokenRefusals = ({ sandbox }: World) =>
  sandbox.ledger.calls({ operation: OPERATION }).filter(({ status }) => status === 400).length;

/** The same token forever, or two that form a cycle: a walk ends there, also a poll's. */
function looping(
  number: number,
  title: string,
  start: (world: World, upstream: EchoingUpstream) => void,
  end: (world: World, upstream: EchoingUpstream) => void,
): Fault {
  return {
    numbers: [number],
    title,
    backends: 'each',
    invariants: ['A', 'B', 'C', 'E', 'F', 'G'],
    // The number of blocks with which the newest ten minutes take several pages.
    sandbox: { blocksPerHour: 1_500 },
    async inject(world) {
      const { sandbox, evidence } = world;
      const upstream = await EchoingUpstream.open(sandbox.url);
      world.closers.add(() => upstream.close());
      const steady = await Steady.start(world, { days: 0, watch: 1, chainData: { url: upstream.url } });
      await steady.waitUntilRecorded();
      const before = sandbox.ledger.count(OPERATION);
      const startedAt = performance.now();
      start(world, upstream);
      await steady.expectFaultReported(title);
      const seconds = (performance.now() - startedAt) / 1000;
      const calls = sandbox.ledger.count(OPERATION) - before;
      // Three targets, each polled at most every 5 s, a few pages each time.
      evidence.bound(`calls a second: ${title}`, Math.round(calls / seconds), 12);
      end(world, upstream);
      evidence.serve('circling page', upstream.circled);
      await steady.expectRecovery(title);
      await steady.waitUntilCovered(240_000);
      await steady.stop();
    },
  };
}

const repeated = looping(
  22,
  'the same nextPageToken forever',
  ({ sandbox }) => sandbox.faults.rate({ 'token-repeated': 1 }),
  ({ sandbox }) => sandbox.faults.clear(),
);

const circular = looping(
  23,
  'tokens in a circle',
  (_, upstream) => {
    upstream.circle = true;
  },
  (_, upstream) => {
    upstream.circle = false;
  },
);

const vanishing: Fault = {
  numbers: [25],
  title: 'items appear and vanish between pages',
  backends: 'each',
  invariants: ['A', 'B', 'C', 'E'],
  sandbox: { blocksPerHour: 900 },
  async inject(world) {
    const { sandbox } = world;
    const steady = await Steady.start(world, { days: 0, watch: 1 });
    await steady.waitUntilCovered(240_000);
    sandbox.faults.rate({ 'missing-item': 0.5 });
    await until('items to be missing', () => (sandbox.ledger.faults()['missing-item'] ?? 0) >= 12);
    sandbox.faults.clear();
    // The missing blocks are within the newest ten minutes, which every poll reads again.
    const { watched } = world;
    watched.splice(0, watched.length, ...watched.map((one) => ({ ...one, to: Date.now() - 2_000 })));
    await steady.expectRecovery('the items were complete again');
    await steady.stop();
  },
};

export const tokenFaults: readonly Fault[] = [aged, repeated, circular, vanishing];
