import { z } from 'zod';
import type { FaultKind } from '../../sandbox/faults/kinds.ts';
import { oneNode } from '../settings.ts';
import { Steady } from '../steady.ts';
import { eventually, until } from '../until.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

const OPERATIONS = {
  validators: 'platform.getCurrentValidators',
  peers: 'info.peers',
  subnets: 'listSubnets',
} as const;
type ListDataset = keyof typeof OPERATIONS;

/** A recorder that polls lists every 5 s. */
async function startPolling(world: World, lists: readonly ListDataset[]): Promise<Steady> {
  const polledDatasets = Object.fromEntries(lists.map((dataset) => [dataset, { every: '5s' }]));
  const datasets = { proposed_blocks: { enabled: false }, ...polledDatasets };
  const steady = await Steady.start(world, { watch: 0, nodes: oneNode(world), datasets });
  await steady.waitUntilRecorded();
  return steady;
}

/** The current members of a list, and the versions that ended because they were missing. */
async function membersOf({ sql }: World, dataset: ListDataset) {
  const key = dataset === 'subnets' ? 'subnet_id' : 'node_id';
  const [row] = await sql<{ current: string[]; removed: number }[]>`
    select coalesce(array_agg(${sql(key)} order by ${sql(key)}) filter (where valid_to is null), '{}') as current,
      count(*) filter (where ended_by = 'gone')::int as removed
    from ${sql(`recorder.${dataset}`)}`;
  if (!row) throw new Error(`${dataset} cannot be counted`);
  return row;
}

/**
 * The current members by the node itself. Its peers change every few minutes without any fault, so only this shows
 * which ones are missing.
 */
async function fetchMemberIds(world: World, dataset: 'validators' | 'peers'): Promise<Set<string>> {
  const [node] = oneNode(world);
  const path = dataset === 'peers' ? '/ext/info' : '/ext/bc/P';
  const answer = await fetch(`${node?.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: OPERATIONS[dataset], params: {} }),
  });
  const listed = z.object({ result: z.record(z.string(), z.unknown()) }).parse(await answer.json());
  const members = z.array(z.object({ nodeID: z.string() })).parse(listed.result[dataset]);
  return new Set(members.map(({ nodeID }) => nodeID));
}

/** Waits until `freshness` has the expected values for a dataset. */
function waitForFreshness(
  { sql }: World,
  dataset: ListDataset,
  what: string,
  matches: (row: {
    complete: boolean;
    failures: number;
    reason: string | null;
    last_failure: string;
  }) => boolean,
): Promise<boolean> {
  return until(`${dataset} to be reported as ${what}`, async () => {
    const [row] = await sql<
      { complete: boolean; failures: number; reason: string | null; last_failure: string }[]
    >`
      select last_complete_at = last_success_at and incomplete_since is null as complete, failures, reason,
        coalesce(last_failure, '') as last_failure
      from reporting.freshness where dataset = ${dataset}`;
    return row !== undefined && matches(row);
  });
}

const waitUntilUnconfirmed = (world: World, dataset: ListDataset) =>
  waitForFreshness(world, dataset, 'unconfirmed', ({ complete, reason }) => {
    return !complete && reason?.startsWith('departures unconfirmed') === true;
  });
const waitUntilComplete = (world: World, dataset: ListDataset) =>
  waitForFreshness(world, dataset, 'complete', ({ complete, reason }) => complete && reason === null);

const unconfirmedDepartures: Fault = {
  numbers: [60],
  title: 'lists that are suddenly empty or lost more than half, for one poll and for two',
  backends: 'each',
  invariants: ['B', 'E', 'X'],
  async inject(world) {
    const { evidence, sandbox } = world;
    const lists = ['validators', 'peers'] as const;
    const steady = await startPolling(world, lists);
    const before = new Map<ListDataset, Awaited<ReturnType<typeof membersOf>>>();
    for (const dataset of lists) before.set(dataset, await membersOf(world, dataset));
    for (const kind of ['list-emptied', 'list-halved'] satisfies FaultKind[]) {
      await Promise.all(
        lists.map(async (dataset) => {
          sandbox.faults.next({ operation: OPERATIONS[dataset] }, kind);
          await waitUntilUnconfirmed(world, dataset);
          await waitUntilComplete(world, dataset);
        }),
      );
      for (const dataset of lists) {
        const listed = await fetchMemberIds(world, dataset);
        const previous = before.get(dataset) ?? { current: [], removed: 0 };
        const after = await membersOf(world, dataset);
        const departedCount = previous.current.filter((id) => !listed.has(id)).length;
        const areKept = previous.current.every((id) => !listed.has(id) || after.current.includes(id));
        const isUnchanged =
          previous.current.length > 0 && areKept && after.removed - previous.removed <= departedCount;
        evidence.claim(`${dataset}, ${kind} for one poll: no version was closed`, isUnchanged);
      }
    }
    for (const dataset of lists)
      sandbox.faults.rate({ 'list-emptied': 1 }, { operation: OPERATIONS[dataset] });
    await Promise.all(
      lists.map(async (dataset) => {
        await waitUntilUnconfirmed(world, dataset);
        await waitUntilComplete(world, dataset);
        const { current, removed } = await membersOf(world, dataset);
        const previousCount = before.get(dataset)?.current.length ?? 0;
        evidence.figures.set(`${dataset} retired`, `${removed} of ${previousCount}`);
        evidence.claim(
          `${dataset}, empty for two polls: retired`,
          current.length === 0 && removed >= previousCount,
        );
      }),
    );
    sandbox.faults.clear();
    await steady.expectRecovery('the lists were complete again');
    for (const dataset of lists) {
      const isRestored = await eventually(`${dataset} to be as the node lists them`, async () => {
        const { current } = await membersOf(world, dataset);
        return [...(await fetchMemberIds(world, dataset))].sort().join() === current.sort().join();
      }).catch(() => false);
      evidence.claim(`${dataset}: all are back`, isRestored);
    }
    await steady.stop();
  },
};

/** The reported contradictions of each list with its count. */
const CONTRADICTIONS = [
  {
    dataset: 'peers',
    kind: 'list-null',
    failurePattern: /contradicts itself: numPeers is \d+, and "peers" has 0/,
  },
  {
    dataset: 'validators',
    kind: 'total-mismatch',
    failurePattern: /contradicts itself: total is 700, and "validators" has \d+/,
  },
  {
    dataset: 'subnets',
    kind: 'total-mismatch',
    failurePattern: /contradicts itself: total is 700, and its pages have \d+/,
  },
] as const;

const contradictoryCounts: Fault = {
  numbers: [61],
  title: 'a number of peers beside null, a total of 700 beside ten items',
  backends: 'each',
  invariants: ['B', 'E', 'X'],
  async inject(world) {
    const { evidence, sandbox } = world;
    const steady = await startPolling(world, ['peers', 'validators', 'subnets']);
    const before = await Promise.all(CONTRADICTIONS.map(({ dataset }) => membersOf(world, dataset)));
    for (const { dataset, kind } of CONTRADICTIONS)
      sandbox.faults.rate({ [kind]: 1 }, { operation: OPERATIONS[dataset] });
    await Promise.all(
      CONTRADICTIONS.map(({ dataset, failurePattern }) =>
        waitForFreshness(
          world,
          dataset,
          'contradicting itself, twice',
          ({ failures, last_failure }) => failures >= 2 && failurePattern.test(last_failure),
        ),
      ),
    );
    for (const [at, { dataset }] of CONTRADICTIONS.entries()) {
      const same = JSON.stringify(await membersOf(world, dataset)) === JSON.stringify(before[at]);
      evidence.claim(`${dataset}: nothing was retired`, same);
    }
    sandbox.faults.clear();
    await steady.expectRecovery('the answers agreed with themselves');
    await steady.stop();
  },
};

export const invalidListFaults: readonly Fault[] = [unconfirmedDepartures, contradictoryCounts];
