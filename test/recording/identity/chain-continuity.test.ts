import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { proposedBlocks } from '../../../src/datasets/chain-data/proposed-blocks.ts';
import { type Dataset, OPEN_END, type Target } from '../../../src/datasets/contract.ts';
import { pBlocks } from '../../../src/datasets/node/p-blocks.ts';
import { xBlocks } from '../../../src/datasets/node/x-blocks.ts';
import { xTransactions } from '../../../src/datasets/node/x-transactions.ts';
import { withDefaultSettings } from '../../../src/recording/active-feed.ts';
import { loadStates, planAll } from '../../../src/recording/plan.ts';
import { registerAll } from '../../../src/recording/register.ts';
import { UpstreamFailure } from '../../../src/upstreams/failure.ts';
import { block, blocksTarget } from '../../support/blocks.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../../support/scripted-feed.ts';

const { it, sql } = withDatabase({ max: 4 });
const clock = new ManualClock(Date.UTC(2026, 0, 10));

/** A chain as a node serves it: its blocks have the ids of `fork` from a height on. */
interface ServedChain {
  readonly head: number;
  /** The name of the chain from this height on; below it is the chain `main`. */
  readonly fork?: { readonly from: number; readonly name: string };
}

const idAt = ({ fork }: ServedChain, height: number) =>
  `${fork && height >= fork.from ? fork.name : 'main'}-${height}`;

/** The JSON-RPC of a node that serves a chain. */
function createNodeRpc(getChain: () => ServedChain, unsupported: readonly string[] = []) {
  return async (_path: string, method: string, params?: Readonly<Record<string, unknown>>) => {
    const chain = getChain();
    const name = method.split('.')[1] ?? '';
    if (unsupported.includes(name)) throw new UpstreamFailure('unsupported', `no ${method}`);
    if (name === 'getHeight') return { height: chain.head };
    if (name !== 'getBlockByHeight') throw new UpstreamFailure('rpc', `no ${method}`);
    const height = Number(params?.height);
    if (height > chain.head) throw new UpstreamFailure('rpc', 'not found');
    const id = idAt(chain, height);
    return {
      block: {
        height,
        id,
        parentID: idAt(chain, height - 1),
        time: 1_763_600_000 + height,
        txs: [{ id: `tx-${id}` }],
      },
    };
  };
}

let nodes = 0;

/** A recorder of the blocks of one node, whose chain the test sets. */
async function createRecorder(dataset: Dataset, unsupported: readonly string[] = []) {
  nodes += 1;
  const target: Target = { node: `node-${nodes}` };
  const datasets = dataset === xBlocks ? [xBlocks, xTransactions] : [dataset];
  const feed = withDefaultSettings({ source: dataset.source, datasets }, [target]);
  await registerAll(sql, [feed], clock.now, { recorder: 'recorder', digest: null });
  const node = { chain: { head: 0 } as ServedChain };
  const context = recordingContext(sql, clock.read, { rpc: createNodeRpc(() => node.chain, unsupported) });
  const poll = async () => {
    clock.now += 60_000;
    const [job] = planAll(feed, [target], await loadStates(sql, feed), clock.now);
    return run(context, feed, job?.window ?? { from: OPEN_END - 1, to: OPEN_END });
  };
  const selectIds = async () => {
    const rows = await sql<{ height: number; id: string }[]>`
      select height::int as height, id from recorder.${sql(dataset.name)} where node = ${target.node ?? ''} and valid_to is null order by height`;
    return rows.map(({ id }) => id);
  };
  const selectCoverage = async () => {
    const [row] = await sql<{ covered: string }[]>`
      select covered::text from recorder.coverage where dataset = ${dataset.name} and target_key = ${`node=${target.node}`}`;
    return row?.covered;
  };
  return { node, poll, selectIds, selectCoverage, target };
}

describe.each([pBlocks, xBlocks])('$name of a node that serves another chain', (dataset) => {
  it('whose head is higher are refused completely, with both ids and the height of the fork', async () => {
    const { node, poll, selectIds, selectCoverage } = await createRecorder(dataset);
    node.chain = { head: 120 };
    expect(await poll()).toMatchObject({ status: 'done' });
    const before = [await selectIds(), await selectCoverage()];
    node.chain = { head: 130, fork: { from: 87, name: 'other' } };
    const refused = await poll();
    expect(refused).toMatchObject({ status: 'failed', rowsWritten: refused.rowsWritten.map(() => 0) });
    expect(refused.error).toContain('the parent of block 121 is other-120, and block 120 is main-120');
    expect(refused.error).toContain('differ from height 87 on');
    expect([await selectIds(), await selectCoverage()]).toEqual(before);
    const [freshness] = await sql`
      select failures, reason from reporting.freshness where dataset = ${dataset.name} and target = ${`node=node-${nodes}`}`;
    expect(freshness).toMatchObject({ failures: 1, reason: refused.error });
    node.chain = { head: 131 };
    expect(await poll()).toMatchObject({ status: 'done', rowsWritten: expect.arrayContaining([11]) });
    expect(await selectCoverage()).toBe('{[20,132)}');
  });

  it('that differs at the newest block alone are refused, with the height of the fork', async () => {
    const { node, poll, selectIds } = await createRecorder(dataset);
    node.chain = { head: 30 };
    await poll();
    node.chain = { head: 30, fork: { from: 30, name: 'other' } };
    const { status, error } = await poll();
    expect({ status, error }).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/block 30 is other-30, and main-30 .*differ from height 30 on/),
    });
    expect(await selectIds()).toEqual(Array.from({ length: 31 }, (_, height) => `main-${height}`));
  });

  it('and has no height are refused as well', async () => {
    const { node, poll, selectIds } = await createRecorder(dataset, ['getHeight']);
    node.chain = { head: 30 };
    await poll();
    node.chain = { head: 12, fork: { from: 5, name: 'other' } };
    expect((await poll()).error).toMatch(/block 12 is other-12, and main-12 .*differ from height 5 on/);
    expect(await selectIds()).toHaveLength(31);
  });

  it('are reported if the head went back, and continue once it passes the recorded one', async () => {
    const { node, poll, selectCoverage } = await createRecorder(dataset);
    node.chain = { head: 30 };
    await poll();
    node.chain = { head: 22 };
    const regressed = await poll();
    expect(regressed).toMatchObject({ status: 'failed' });
    expect(regressed.error).toContain('the newest block is 22, and blocks are recorded up to 30');
    node.chain = { head: 35 };
    expect(await poll()).toMatchObject({ status: 'done', error: null });
    expect(await selectCoverage()).toBe('{[0,36)}');
  });
});

it('stores no block of a chain that does not continue the recorded one, whatever is served', async () => {
  const servedChain = fc.record({
    head: fc.integer({ min: 0, max: 60 }),
    // An id names the blocks below it, as hashes do: each fork has ids of its own.
    fork: fc.option(
      fc
        .record({ from: fc.integer({ min: 0, max: 60 }), name: fc.constantFrom('b', 'c') })
        .map(({ from, name }) => ({ from, name: `${name}${from}` })),
      { nil: undefined },
    ),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(servedChain, { minLength: 2, maxLength: 6 }), async (chains) => {
      const { node, poll, selectIds } = await createRecorder(pBlocks);
      const recordedIds: string[] = [];
      for (const { head, fork } of chains) {
        node.chain = fork ? { head, fork } : { head };
        const newest = recordedIds.length - 1;
        const expected = head >= newest && (newest < 0 || recordedIds[newest] === idAt(node.chain, newest));
        const { status } = await poll();
        expect(status).toBe(expected ? 'done' : 'failed');
        if (expected)
          for (let at = recordedIds.length; at <= head; at++) recordedIds.push(idAt(node.chain, at));
        expect(await selectIds()).toEqual(recordedIds);
      }
    }),
    { numRuns: 15 },
  );
});

describe('a height with two ids', () => {
  const createPoll = () => {
    nodes += 1;
    const feed = scriptedFeed(pBlocks, { node: `node-${nodes}` });
    return (...blocks: readonly [height: number | string, id: string | null, parentID?: string][]) => {
      feed.script = () =>
        onlyPage({ blocks: blocks.map(([height, id, parentID]) => ({ height, id, parentID })) });
      clock.now += 1_000;
      return run(recordingContext(sql, clock.read), feed);
    };
  };
  const done = { status: 'done', rowsWritten: [1] };
  const refused = { status: 'failed', rowsWritten: [0] };

  it('is of another chain, also at the newest height and on the same parent', async () => {
    const poll = createPoll();
    await poll([1, 'a'], [2, 'b', 'a']);
    const { error, ...result } = await poll([2, 'other-b', 'a']);
    expect(result).toMatchObject(refused);
    expect(error).toContain('another chain: block 2 is other-b, and b is recorded at this height');
    expect(await poll([2, 'other-b', 'a'], [3, 'c', 'other-b'])).toMatchObject(refused);
    expect(await poll([3, 'c', 'b'])).toMatchObject(done);
  });

  it('may be the same block if the recorded one has no id', async () => {
    const poll = createPoll();
    await poll([1, 'a'], [2, null, 'a']);
    expect((await poll([2, 'b', 'a'])).status).toBe('done');
  });

  it('is of another chain if the parent of the second one is not recorded', async () => {
    const poll = createPoll();
    await poll([1, 'a'], [2, 'b', 'a']);
    const { error } = await poll([2, 'other-b', 'other-a']);
    expect(error).toContain(
      'block 2 is other-b, and b is recorded at this height; the parent of block 2 is other-a, and block 1 is a',
    );
  });

  it('proves nothing if an entry below has no id', async () => {
    const poll = createPoll();
    await poll([1, null]);
    expect(await poll([2, 'b', 'a'])).toMatchObject(done);
  });

  it('is not detected below the recorded blocks: the block has to be their parent', async () => {
    const poll = createPoll();
    await poll([7, 'g', 'f']);
    expect(await poll([6, 'other-f', 'e'])).toMatchObject(refused);
    expect(await poll([6, 'f', 'e'])).toMatchObject(done);
  });

  it('is compared exactly beyond 2^53', async () => {
    const poll = createPoll();
    await poll(['9007199254740993', 'a', 'z']);
    // As a double, this is the height of the recorded block.
    expect(await poll(['9007199254740992', 'z', 'y'])).toMatchObject(done);
    expect((await poll(['9007199254740994', 'b', 'other'])).error).toContain(
      'the parent of block 9007199254740994 is other, and block 9007199254740993 is a',
    );
    expect(await poll(['9007199254740994', 'b', 'a'])).toMatchObject(done);
  });
});

it('is not checked in proposed blocks, which are those of one proposer', async () => {
  const feed = scriptedFeed(proposedBlocks, blocksTarget());
  const poll = (...blocks: unknown[]) => {
    feed.script = () => onlyPage({ blocks });
    return run(recordingContext(sql, clock.read), feed);
  };
  const seconds = clock.now / 1000;
  expect(await poll(block(7, seconds))).toMatchObject({ status: 'done' });
  expect(await poll(block(8, seconds, { parentHash: 'other' }))).toMatchObject({
    status: 'done',
    rowsWritten: [1],
  });
});
