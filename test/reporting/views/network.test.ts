import { beforeEach, describe, expect } from 'vitest';
import { catalog } from '../../../src/datasets/catalog.ts';
import type { Dataset } from '../../../src/datasets/contract.ts';
import { currentSupply } from '../../../src/datasets/node/current-supply.ts';
import { nodeFees } from '../../../src/datasets/node/fees.ts';
import { pBlockchains } from '../../../src/datasets/node/p-blockchains.ts';
import { pBlocks } from '../../../src/datasets/node/p-blocks.ts';
import { nodeProposals } from '../../../src/datasets/node/proposals.ts';
import { validators } from '../../../src/datasets/node/validators.ts';
import { storeContradictions } from '../../../src/recording/store-contradictions.ts';
import { declaredObjects } from '../../../src/reporting/views/declared-objects.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import {
  onlyPage,
  recordingContext,
  run,
  type ScriptedFeed,
  scriptedFeed,
} from '../../support/scripted-feed.ts';

const { it, sql } = withDatabase({ max: 1 });

const every = 24 * 60 * 60_000;
/** The views compare with the present: the second to fourth poll of a test are not late by then, the first is. */
const clock = new ManualClock(0);
const feeds = new Map<string, ScriptedFeed>();
const mergedDatasets = catalog.flatMap((dataset) =>
  dataset.everyNode ? [{ ...dataset, everyNode: dataset.everyNode }] : [],
);
beforeEach(async () => {
  await sql.unsafe(
    `truncate ${mergedDatasets.map(({ name }) => `recorder.${name}`).join(', ')}, recorder.target_datasets, recorder.targets, recorder.runs, recorder.coverage, recorder.contradictions, recorder.contradictions_noted, recorder.quarantine`,
  );
  clock.now = Date.now() - 4 * every;
  feeds.clear();
});

/** Records the response of a node; it is configured from then on. */
async function recordResponse(dataset: Dataset, node: string, body: unknown, subnetId = 's'): Promise<void> {
  const name = `${dataset.name} ${node} ${subnetId}`;
  const target = { node, ...(dataset.request.includes('subnetId') ? { subnetId } : {}) };
  const feed =
    feeds.get(name) ??
    scriptedFeed(dataset, target, { every, confirmShrink: { observations: 1, minDuration: 0 } });
  feeds.set(name, feed);
  feed.script = () => onlyPage(body);
  await run(recordingContext(sql, clock.read), feed);
  await sql`update recorder.target_datasets set active = true where source = ${feed.source.name}`;
}

type Weights = Readonly<Record<string, number>>;

/**
 * Polls nodes for their validators one interval later, given as weights by name. Balances change, unless one is given.
 */
async function poll(lists: Readonly<Record<string, Weights>>, balance?: number): Promise<void> {
  clock.now += every;
  for (const [at, [node, weights]] of Object.entries(lists).entries()) {
    const list = Object.entries(weights).map(([nodeID, weight]) => ({
      ...{ nodeID, startTime: 1, weight },
      balance: balance ?? clock.now + at,
    }));
    await recordResponse(validators, node, { validators: list });
  }
}

/** Rows over all nodes, of a view or function. */
const rowsOf = async <Row extends object>(from: string, columns: string) => [
  ...(await sql.unsafe<Row[]>(
    `select ${columns}, reporting_nodes, dissenting_nodes from reporting.${from} order by 1`,
  )),
];

/** Rows over all nodes, which are also those as of now. */
async function readMerged<Row extends object>(relation: string, columns: string): Promise<Row[]> {
  const rows = await rowsOf<Row>(relation, columns);
  expect(await rowsOf(`${relation}_as_of(now())`, columns)).toEqual(rows);
  return rows;
}

interface Merged {
  readonly node_id: string;
  readonly weight: number;
  readonly reporting_nodes: string[];
  readonly dissenting_nodes: object | null;
}

const MEMBERS = 'node_id, weight::int';
const network = () => readMerged<Merged>('validators', MEMBERS);
/** The same if the bookkeeping changed since the last poll. */
const present = () => rowsOf<Merged>('validators', MEMBERS);
/** The validators over all nodes, as known at a moment in ms. */
const asOf = (moment: number) =>
  rowsOf<Merged>(`validators_as_of('${new Date(moment).toISOString()}')`, MEMBERS);

/** A member of the list over all nodes. */
const listed = (
  node_id: string,
  weight: number,
  reporting_nodes: string[],
  dissenting_nodes: object | null = null,
): Merged => ({ node_id, weight, reporting_nodes, dissenting_nodes });

describe('reports of all nodes', () => {
  it('have a view named after their dataset', () => {
    const names = declaredObjects().map(({ name }) => name);
    const promised = [
      ...['validators', 'validator_delegators', 'p_blocks', 'x_blocks', 'x_transactions', 'p_blockchains'],
      ...['current_supply', 'fees', 'upgrades', 'proposals'],
    ];
    const datasetNames = mergedDatasets.map(({ name }) => name);
    expect(datasetNames).toEqual(expect.arrayContaining(promised));
    expect(names).toEqual(
      expect.arrayContaining(datasetNames.flatMap((name) => [name, `${name}_as_of`, `node_${name}`])),
    );
  });

  it.each(mergedDatasets)('$name declares its existing columns', (dataset) => {
    const { request, key, history, columns, everyNode } = dataset;
    const names = columns.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([...everyNode.own, ...(everyNode.at ? [everyNode.at] : [])]),
    );
    expect([request[0], key[0]]).toEqual(['node', 'node']);
    if (history === 'sample') expect(key).toHaveLength(request.length);
    const view = declaredObjects().find(({ name }) => name === dataset.name);
    const viewColumns = view?.columns.map(({ name }) => name) ?? [];
    expect(viewColumns).toEqual(
      expect.arrayContaining(['reporting_nodes', 'dissenting_nodes', ...key.slice(1)]),
    );
    expect(viewColumns.filter((name) => name === 'node' || everyNode.own.includes(name))).toEqual([]);
  });
});

describe('a list that nodes report', () => {
  it('has the nodes that agree, whatever their balances are by the second', async () => {
    for (let round = 0; round < 2; round++) await poll({ b: { v: 1 }, a: { v: 1 } });
    expect(await network()).toEqual([listed('v', 1, ['a', 'b'])]);
  });

  it('returns at each past moment what was known then', async () => {
    const rowsByMoment = new Map<number, object[]>();
    for (const c of [{ v: 1, w: 1 }, { v: 1, w: 1 }, { v: 1 }, { v: 1 }]) {
      await poll({ a: { v: 1, w: 1 }, b: { v: 1, w: 1 }, c });
      rowsByMoment.set(clock.now, await network());
    }
    expect(
      [...rowsByMoment.values()].map((rows) =>
        rows.map((row) => 'dissenting_nodes' in row && row.dissenting_nodes),
      ),
    ).toEqual([
      [null, null],
      [null, null],
      [null, null],
      [null, { c: null }],
    ]);
    for (const [moment, rows] of rowsByMoment) expect(await asOf(moment)).toEqual(rows);
    await expect(asOf(0)).rejects.toThrow('there is no record of validators');
  });

  it('has the nodes that report another weight, once both reported it again', async () => {
    const lists = { a: { v: 1 }, b: { v: 2 }, c: { v: 2 } };
    await poll({ a: { v: 1 }, b: { v: 1 }, c: { v: 1 } });
    await poll(lists);
    expect(await network()).toEqual([listed('v', 2, ['b', 'c'])]);
    await poll(lists);
    expect(await network()).toEqual([listed('v', 2, ['b', 'c'], { a: { weight: 1 } })]);
  });

  it('has the nodes that do not list a member, once both were polled again', async () => {
    const lists = { a: { v: 1, w: 1 }, b: { v: 1 }, c: { v: 1, w: 1 } };
    await poll({ a: { v: 1, w: 1 }, b: { v: 1, w: 1 }, c: { v: 1, w: 1 } });
    await poll(lists);
    const agreed = listed('v', 1, ['a', 'b', 'c']);
    const w = { node_id: 'w', weight: 1, reporting_nodes: ['a', 'c'] };
    expect(await network()).toEqual([agreed, { ...w, dissenting_nodes: null }]);
    await poll(lists);
    expect(await network()).toEqual([agreed, { ...w, dissenting_nodes: { b: null } }]);
    // It lists it again.
    await poll({ ...lists, b: { v: 1, w: 1 } });
    expect(await network()).toEqual([agreed, { ...agreed, node_id: 'w' }]);
  });

  it('infers no absence from a node whose item of the member could not be decoded', async () => {
    const member = (nodeID: string, weight: unknown) => ({ nodeID, startTime: 1, weight });
    const lists = Object.entries({ a: 1, b: 'none', c: 1 });
    for (let round = 0; round < 3; round++) {
      clock.now += every;
      for (const [node, weight] of lists)
        await recordResponse(validators, node, { validators: [member('v', 1), member('w', weight)] });
    }
    const agreed = listed('v', 1, ['a', 'b', 'c']);
    expect(await network()).toEqual([agreed, { ...agreed, node_id: 'w', reporting_nodes: ['a', 'c'] }]);
  });

  it('shows a member that the majority does not list as a disagreement', async () => {
    for (let round = 0; round < 3; round++) await poll({ a: { v: 1 }, b: {}, c: {} });
    expect(await network()).toEqual([listed('v', 1, ['a'], { b: null, c: null })]);
  });

  it('infers no disagreement from a new node before it was polled again', async () => {
    const old = { a: { v: 1 }, b: { v: 1 } };
    const dissentingNodes = async () => (await network()).map((row) => row.dissenting_nodes);
    await poll(old);
    await poll(old);
    await poll({ ...old, c: {} });
    expect(await dissentingNodes()).toEqual([null]);
    await poll({ ...old, c: {} });
    expect(await dissentingNodes()).toEqual([{ c: null }]);
  });

  it.each(['first_success_at', 'requested_since'])(
    'infers no disagreement from a node from before its %s',
    async (column) => {
      for (let round = 0; round < 3; round++) await poll({ a: { v: 1 }, b: {} });
      const starts = (at: number) => sql`
        update recorder.target_datasets d set ${sql(column)} = ${new Date(at)} from recorder.targets t
        where (t.source, t.target_key) = (d.source, d.target_key) and t.target ->> 'node' = 'b'`;
      await starts(clock.now - every);
      expect(await network()).toMatchObject([{ dissenting_nodes: { b: null } }]);
      await starts(clock.now - every + 1);
      expect(await network()).toMatchObject([{ dissenting_nodes: null }]);
    },
  );

  it('infers no disagreement that is younger than an interval, however often nodes are polled', async () => {
    const lists = { a: { v: 1 }, b: { v: 2 }, c: { v: 2 } };
    await poll({ a: { v: 1 }, b: { v: 1 }, c: { v: 1 } });
    await poll(lists);
    clock.now -= every / 2;
    await poll(lists);
    expect(await network()).toMatchObject([{ weight: 2, dissenting_nodes: null }]);
  });

  it('compares at a moment at which both had been polled', async () => {
    const all = { a: { v: 1 }, b: { v: 1 }, c: { v: 1 } };
    const agreed = listed('v', 1, ['a', 'b']);
    await poll(all);
    await poll(all);
    // Those that agree were not polled meanwhile, and may report the same by now.
    for (let round = 0; round < 2; round++) await poll({ c: { v: 2 } });
    expect(await network()).toEqual([agreed]);
  });

  it('compares nothing for which a node was not polled again', async () => {
    await poll({ a: { v: 1 }, b: { v: 1 }, c: { v: 1 } });
    await poll({ a: { v: 1 }, b: { v: 1 }, c: { v: 2 } });
    for (let round = 0; round < 2; round++) await poll({ a: { v: 1 }, b: { v: 1 } });
    expect(await network()).toEqual([listed('v', 1, ['a', 'b'])]);
  });

  it('compares with the last polled node of those that agree', async () => {
    for (let round = 0; round < 2; round++) await poll({ a: { v: 1 }, b: { v: 1 }, c: { v: 1 } });
    for (let round = 0; round < 2; round++) await poll({ a: { v: 1 }, c: { v: 2 } });
    expect(await network()).toEqual([listed('v', 1, ['a', 'b'], { c: { weight: 2 } })]);
  });

  it('has no disagreement with nodes that are not polled any more', async () => {
    for (let round = 0; round < 3; round++) await poll({ a: { v: 1 }, b: {} });
    expect(await network()).toMatchObject([{ reporting_nodes: ['a'], dissenting_nodes: { b: null } }]);
    await sql`update recorder.target_datasets d set active = false from recorder.targets t
      where (t.source, t.target_key) = (d.source, d.target_key) and t.target ->> 'node' = 'a'`;
    expect(await present()).toMatchObject([{ reporting_nodes: ['a'], dissenting_nodes: null }]);
  });

  it('infers no absence from a node that was polled for the list of another subnet', async () => {
    const members = (nodeID: string) => ({ validators: [{ nodeID, startTime: 1, weight: 1 }] });
    for (let round = 0; round < 3; round++) {
      clock.now += every;
      await recordResponse(validators, 'a', members('v'), 's');
      await recordResponse(validators, 'b', members('v'), 's');
      await recordResponse(validators, 'b', members('w'), 't');
      await recordResponse(validators, 'c', members('w'), 't');
      await recordResponse(validators, 'd', { validators: [] }, 's');
    }
    expect(await network()).toEqual([listed('v', 1, ['a', 'b'], { d: null }), listed('w', 1, ['b', 'c'])]);
  });

  it('infers no disagreement from a node that was polled too early', async () => {
    await poll({ a: {}, b: {} });
    await poll({ a: { v: 1 } });
    await poll({ a: { v: 1 } });
    expect(await network()).toEqual([listed('v', 1, ['a'])]);
  });

  it.each([
    ['fails', 'failures = 1'],
    ['is not offered it any more', `unsupported_reason = 'no'`],
    ['is not polled any more', 'active = false'],
    ['omits a field', 'incomplete_since = now()'],
    ['was not polled recently', `last_complete_at = now() - 73 * interval '1 hour'`],
  ])('infers no disagreement from a node that %s', async (_, change) => {
    for (let round = 0; round < 3; round++) await poll({ a: { v: 1, w: 1 }, b: { v: 2 }, c: { v: 1, w: 1 } });
    const dissentingNodes = async () => (await present()).map((row) => row.dissenting_nodes);
    expect(await dissentingNodes()).toEqual([{ b: { weight: 2 } }, { b: null }]);
    await sql.unsafe(`update recorder.target_datasets d set ${change} from recorder.targets t
      where (t.source, t.target_key) = (d.source, d.target_key) and t.target ->> 'node' = 'b'`);
    expect(await dissentingNodes()).toEqual([null, null]);
  });

  it('prefers a recently polled node to two others', async () => {
    await poll({ a: { v: 1 }, b: { v: 1 }, c: { v: 1 } });
    for (let round = 0; round < 3; round++) await poll({ c: { v: 2 } });
    expect(await network()).toEqual([listed('v', 2, ['c'])]);
  });

  it('shows for equal numbers of nodes the latest report, then that of the first name', async () => {
    await poll({ a: { u: 1, v: 1, w: 2 }, b: { u: 2, v: 1, w: 1 } }, 0);
    await poll({ a: { u: 1, v: 1, w: 2 }, b: { u: 2, v: 2, w: 1 } }, 0);
    await poll({ a: { u: 1, v: 1, w: 2 }, b: { u: 2, v: 2, w: 1 } }, 0);
    expect(await network()).toEqual([
      listed('u', 1, ['a'], { b: { weight: 2 } }),
      listed('v', 2, ['b'], { a: { weight: 1 } }),
      listed('w', 2, ['a'], { b: { weight: 1 } }),
    ]);
  });

  it('shows for equal numbers of nodes the latest report of its nodes', async () => {
    await poll({ a: { v: 1 }, b: { v: 3 }, c: { v: 3 }, d: { v: 3 } }, 0);
    await poll({ a: { v: 1 }, b: { v: 3 }, c: { v: 2 }, d: { v: 3 } }, 0);
    await poll({ a: { v: 1 }, b: { v: 3 }, c: { v: 2 }, d: { v: 2 } }, 0);
    await poll({ a: { v: 1 }, b: { v: 1 }, c: { v: 2 }, d: { v: 2 } }, 0);
    expect(await network()).toMatchObject([{ weight: 1, reporting_nodes: ['a', 'b'] }]);
  });

  it('shows the majority once no node is polled any more', async () => {
    await poll({ a: { v: 1 }, b: { v: 1 } });
    await poll({ c: { v: 2 } });
    await sql`update recorder.target_datasets set active = false`;
    expect(await present()).toEqual([listed('v', 1, ['a', 'b'])]);
  });

  it('does not count a missing field as another value', async () => {
    const fee = (node: string, body: object) => recordResponse(nodeFees, node, body);
    for (let round = 0; round < 3; round++) {
      clock.now += every;
      await fee('a', { txFee: '1', createAssetTxFee: '2' });
      await fee('b', { txFee: '1' });
      await fee('c', { txFee: '1', createAssetTxFee: '2' });
      await fee('d', { txFee: '3' });
    }
    expect(await readMerged('fees', 'tx_fee::int, create_asset_tx_fee::int')).toEqual([
      {
        tx_fee: 1,
        create_asset_tx_fee: 2,
        reporting_nodes: ['a', 'b', 'c'],
        dissenting_nodes: { d: { tx_fee: 3 } },
      },
    ]);
  });

  it('compares nothing that is specific to each node', async () => {
    const chain = (status: string) => ({ blockchains: [{ id: 'c', name: 'C', status }] });
    const votes = (weight: string) => ({ acps: { 23: { supportWeight: weight } } });
    for (let round = 0; round < 3; round++) {
      clock.now += every;
      await recordResponse(pBlockchains, 'a', chain('Validating'));
      await recordResponse(pBlockchains, 'b', chain('Syncing'));
      await recordResponse(nodeProposals, 'a', votes('1'));
      await recordResponse(nodeProposals, 'b', votes('2'));
      await recordResponse(nodeProposals, 'c', { acps: {} });
    }
    expect(await readMerged('p_blockchains', 'blockchain_id, name')).toEqual([
      { blockchain_id: 'c', name: 'C', reporting_nodes: ['a', 'b'], dissenting_nodes: null },
    ]);
    expect(await readMerged('proposals', 'proposal::int')).toEqual([
      { proposal: 23, reporting_nodes: ['a', 'b'], dissenting_nodes: { c: null } },
    ]);
  });
});

describe('a log that nodes report', () => {
  const block = (node: string, height: number, id: string, more: object = {}) =>
    recordResponse(pBlocks, node, { blocks: [{ height, id, ...more }] });
  const blocks = () => readMerged('p_blocks', 'height::int, id');

  it('has the nodes that report another block at a height, and infers nothing from absence', async () => {
    await block('a', 1, 'one');
    await block('b', 1, 'one');
    await block('c', 1, 'fork');
    await block('a', 2, 'two');
    expect(await blocks()).toEqual([
      { height: 1, id: 'one', reporting_nodes: ['a', 'b'], dissenting_nodes: { c: { id: 'fork' } } },
      { height: 2, id: 'two', reporting_nodes: ['a'], dissenting_nodes: null },
    ]);
  });

  it('has the current report of a node instead of its earlier one', async () => {
    await block('a', 1, 'one', { time: 2 });
    await block('b', 1, 'one', { time: 1 });
    await block('b', 1, 'one', { time: 2 });
    expect(await blocks()).toEqual([
      { height: 1, id: 'one', reporting_nodes: ['a', 'b'], dissenting_nodes: null },
    ]);
  });

  it('keeps the report of a node that is not polled any more', async () => {
    await block('a', 1, 'one');
    await sql`update recorder.target_datasets set active = false, left_at = now()`;
    expect(await blocks()).toEqual([
      { height: 1, id: 'one', reporting_nodes: ['a'], dissenting_nodes: null },
    ]);
  });

  it('shows for equal numbers of nodes the latest report of its nodes', async () => {
    for (const [node, id] of [
      ['a', 'one'],
      ['c', 'two'],
      ['d', 'two'],
      ['b', 'one'],
    ] as const) {
      clock.now += 1;
      await block(node, 1, id);
    }
    expect(await blocks()).toMatchObject([{ id: 'one', reporting_nodes: ['a', 'b'] }]);
  });

  it('has the same disagreements as a comparison of all blocks, whenever they were stored', async () => {
    const comparedDisagreements = async () => [
      ...(await sql`select 'height=' || height as entity, d.key as node from reporting.p_blocks, jsonb_each(dissenting_nodes) d
        order by 1, 2`),
    ];
    const reportedDisagreements = async () => [
      ...(await sql`select entity, node from reporting.disagreements('p_blocks') order by 1, 2`),
    ];
    const note = async (days: number) => {
      await storeContradictions(sql, clock.now + days * every, new AbortController().signal);
      expect(await reportedDisagreements()).toEqual(await comparedDisagreements());
    };
    const storedHeights = async () =>
      (await sql<{ of: string }[]>`select entity[1] as of from recorder.contradictions order by 1`).map(
        (one) => one.of,
      );
    await note(0);
    for (const node of ['a', 'b', 'c']) await block(node, 1, 'one', { time: node === 'c' ? 2 : 1 });
    for (const node of ['a', 'b']) await block(node, 2, 'two');
    await block('c', 2, 'two', { tx: { of: 'c' } }); // an incomplete report of others is no disagreement
    expect(await reportedDisagreements()).toEqual([{ entity: 'height=1', node: 'c' }]);
    await note(3);
    expect(await storedHeights()).toEqual(['1']);
    // A node later reports another block at a compared height; a block differs from its earlier version.
    clock.now += 4 * every;
    await block('d', 2, 'other');
    await block('c', 1, 'one', { time: 1 });
    expect(await reportedDisagreements()).toEqual([{ entity: 'height=2', node: 'd' }]);
    await note(0);
    await note(3);
    expect(await storedHeights()).toEqual(['1', '2']);
    await note(-2); // a clock that was set back
    expect(await reportedDisagreements()).toEqual([{ entity: 'height=2', node: 'd' }]);
  });

  it('shows for equal numbers of nodes the latest report', async () => {
    await block('b', 1, 'same');
    await block('a', 1, 'as');
    await block('a', 2, 'old');
    clock.now += 1;
    await block('b', 2, 'new');
    expect(await blocks()).toEqual([
      { height: 1, id: 'as', reporting_nodes: ['a'], dissenting_nodes: { b: { id: 'same' } } },
      { height: 2, id: 'new', reporting_nodes: ['b'], dissenting_nodes: { a: { id: 'old' } } },
    ]);
  });
});

describe('readings that nodes report', () => {
  const supply = () =>
    readMerged('current_supply', "subnet_id, supply::int, height::int, readings -> 'a' ->> 'supply' as a");

  it('conflict only at the same height, and only the newest of each node', async () => {
    await recordResponse(currentSupply, 'a', { supply: '9', height: '1' });
    await recordResponse(currentSupply, 'b', { supply: '1', height: '1' });
    clock.now += 1;
    await recordResponse(currentSupply, 'a', { supply: '2', height: '2' });
    const one = { subnet_id: 's', a: '2' };
    expect(await supply()).toEqual([
      { ...one, supply: 2, height: 2, reporting_nodes: ['a'], dissenting_nodes: null },
    ]);
    clock.now += 1;
    await recordResponse(currentSupply, 'b', { supply: '3', height: '2' });
    await recordResponse(currentSupply, 'c', { supply: '3', height: '2' });
    expect(await supply()).toEqual([
      { ...one, supply: 3, height: 2, reporting_nodes: ['b', 'c'], dissenting_nodes: { a: { supply: 2 } } },
    ]);
  });

  it('are shown by node if all agree, each with its time', async () => {
    await recordResponse(currentSupply, 'a', { supply: '2', height: '2' });
    await recordResponse(currentSupply, 'b', { supply: '2', height: '2' });
    const [row] = await sql<{ readings: Record<string, { observed_at: string }> }[]>`
      select readings from reporting.current_supply`;
    expect(row?.readings).toMatchObject({ a: { supply: 2, height: 2 }, b: { supply: 2, height: 2 } });
    expect(Object.values(row?.readings ?? {}).map((one) => Date.parse(one.observed_at))).toEqual([
      clock.now,
      clock.now,
    ]);
  });

  it('show for equal numbers of nodes the latest report of its nodes', async () => {
    for (const [node, supply] of [
      ['a', '1'],
      ['c', '2'],
      ['d', '2'],
      ['b', '1'],
    ] as const) {
      clock.now += 1;
      await recordResponse(currentSupply, node, { supply, height: '1' });
    }
    expect(await supply()).toMatchObject([{ supply: 1, reporting_nodes: ['a', 'b'] }]);
  });

  it('are those of nodes that are polled, or were recorded by hand', async () => {
    await recordResponse(currentSupply, 'a', { supply: '2', height: '2' });
    await recordResponse(currentSupply, 'b', { supply: '3', height: '2' });
    await sql`update recorder.target_datasets set active = false`;
    expect(await supply()).toMatchObject([{ supply: 2, dissenting_nodes: { b: { supply: 3 } } }]);
    await sql`update recorder.target_datasets d set left_at = now() from recorder.targets t
      where (t.source, t.target_key) = (d.source, d.target_key) and t.target ->> 'node' = 'a'`;
    expect(await supply()).toMatchObject([
      { supply: 3, reporting_nodes: ['b'], dissenting_nodes: null, a: null },
    ]);
  });
});

it('have disagreements by node, column by column, of all datasets or of one', async () => {
  for (let round = 0; round < 3; round++) {
    await poll({ a: { v: 1, w: 1 }, b: { v: 1, w: 1 }, c: { v: 2 } });
    for (const [node, fees] of Object.entries({ a: [1, 2], b: [1, 2], c: [3, 4] }))
      await recordResponse(nodeFees, node, { txFee: String(fees[0]), createAssetTxFee: String(fees[1]) });
  }
  const disagreements = async (dataset: string | null) => [
    ...(await sql`select dataset, entity, node, column_name, node_value, majority_value, reporting_nodes
      from reporting.disagreements(${dataset})`),
  ];
  const row = { dataset: 'fees', entity: '', node: 'c', reporting_nodes: ['a', 'b'] };
  const fees = [
    { ...row, column_name: 'create_asset_tx_fee', node_value: '4', majority_value: '2' },
    { ...row, column_name: 'tx_fee', node_value: '3', majority_value: '1' },
  ];
  const member = { dataset: 'validators', node: 'c', reporting_nodes: ['a', 'b'] };
  const members = [
    { entity: 'v', column_name: 'weight', node_value: '2', majority_value: '1' },
    { entity: 'w', column_name: null, node_value: null, majority_value: null },
  ].map(({ entity, ...difference }) => ({
    ...member,
    entity: `subnet_id=s node_id=${entity} start_time=1970-01-01 00:00:01+00`,
    ...difference,
  }));
  expect(await disagreements(null)).toEqual([...fees, ...members]);
  expect(await disagreements('validators')).toEqual(members);
});
