import { describe, expect } from 'vitest';
import { catalog } from '../../../src/datasets/catalog.ts';
import { proposedBlocks } from '../../../src/datasets/chain-data/proposed-blocks.ts';
import { chainHeights } from '../../../src/datasets/node/chain-heights.ts';
import { pBlocks } from '../../../src/datasets/node/p-blocks.ts';
import { validatorDelegators } from '../../../src/datasets/node/validator-delegators.ts';
import { validators } from '../../../src/datasets/node/validators.ts';
import { queryAsReader } from '../../../src/db/query-as-reader.ts';
import { parseExactInstant } from '../../../src/lib/instant.ts';
import { relationSql } from '../../../src/reporting/views/declared-objects.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../../support/scripted-feed.ts';

const { it, database, sql } = withDatabase({ max: 2 });

const start = Date.UTC(2026, 10, 1);
const hour = 3_600_000;

/** All relations of datasets with a past, with the name of the dataset and their key. */
const relations = catalog.flatMap(({ name, relation, key }) => [
  { name, relation, key },
  ...(name === relation ? [] : [{ name, relation: name, key: key.filter((column) => column !== 'node') }]),
]);

/** Rows of a query of a user, as of a moment. */
const queryAsOf = (question: string, asOf: number | string) =>
  queryAsReader(
    database.url,
    question,
    {
      timeout: 20_000,
      asOf: typeof asOf === 'string' ? asOf : new Date(asOf).toISOString(),
      signal: new AbortController().signal,
    },
    async ({ rows }) => {
      const all: unknown[] = [];
      for await (const block of rows('values')) all.push(...block.map((line) => JSON.parse(line)));
      return all;
    },
  );

describe('as of a moment', () => {
  it.each(relations)(
    '$relation fails before any recording, and returns the current rows now',
    async ({ name, relation }) => {
      await expect(
        sql.unsafe(`select * from ${relationSql(`${relation}_as_of`)}('2026-01-01')`),
      ).rejects.toMatchObject({
        message: `there is no record of ${name} yet`,
      });
      expect(await sql.unsafe(`select * from ${relationSql(`${relation}_as_of`)}(now())`)).toHaveLength(0);
    },
  );

  it('elements of lists fail before any recording, too', async () => {
    const lists = catalog.flatMap(({ name, relation, columns }) =>
      columns.flatMap((column) => (column.element ? [[name, `${relation}_${column.name}`] as const] : [])),
    );
    expect(lists.length).toBeGreaterThan(40);
    for (const [dataset, list] of lists)
      await expect(queryAsOf(`select * from ${list}`, '2026-01-01'), list).rejects.toThrow(
        `there is no record of ${dataset} yet`,
      );
  });

  it('stakes that end soon list only validators if delegations were never recorded', async () => {
    const clock = new ManualClock(start);
    const context = recordingContext(sql, clock.read);
    const node = { node: 'n', subnetId: '11111111111111111111111111111111LpoYY' };
    const span = { startTime: start / 1000, endTime: (start + 9 * 24 * hour) / 1000, weight: 1 };
    const list = scriptedFeed(validators, node);
    list.script = () => onlyPage({ validators: [{ nodeID: 'NodeID-1', txID: 'validation', ...span }] });
    await run(context, list);
    const readExpiring = async (at: number) =>
      (await sql`select tx_id from reporting.stake_expiring(as_of => ${new Date(at)})`).map(
        ({ tx_id }) => tx_id,
      );
    expect(await readExpiring(start + hour)).toEqual(['validation']);
    await expect(readExpiring(start - hour)).rejects.toThrow('there is no record of validators at');

    clock.now += 2 * hour;
    const delegations = scriptedFeed(validatorDelegators, { ...node, nodeId: 'NodeID-1' });
    const delegators = [{ txID: 'delegation', ...span }];
    delegations.script = () => onlyPage({ validators: [{ delegatorCount: '1', delegators }] });
    await run(context, delegations);
    expect(await readExpiring(start + 2 * hour)).toEqual(['delegation', 'validation']);
    await expect(readExpiring(start + hour)).rejects.toThrow('there is no record of validator_delegators at');
  });

  it('a list of many versions returns those open at the moment, by an index', async () => {
    const clock = new ManualClock(start);
    const list = scriptedFeed(validators, { node: 'held', subnetId: 's' });
    list.script = () => onlyPage({ validators: [{ nodeID: 'first', startTime: 1, weight: 1 }] });
    await run(recordingContext(sql, clock.read), list);
    // A hundred versions of fifty members, of which every tenth is removed in the end; and one that ends before it
    // starts.
    await sql`
      insert into recorder.validators (node, subnet_id, node_id, start_time, weight, valid_from, valid_to, ended_by, run_id)
      select 'held', 's', 'member-' || m, timestamptz 'epoch', v, at, case when v < 100 then at + interval '1 hour' when m % 10 = 0 then at + interval '1 minute' end,
        case when v < 100 then 'changed' when m % 10 = 0 then 'gone' end, 1
      from generate_series(1, 50) m, generate_series(1, 100) v,
        lateral (select ${new Date(start)}::timestamptz + v * interval '1 hour' + m * interval '1 second' as at) began
      union all select 'held', 's', 'odd', timestamptz 'epoch', 1, ${new Date(start + 2 * hour)}, ${new Date(start + hour)}, 'changed', 1`;
    await sql`analyze recorder.validators`;
    const bounds = await sql<{ at: Date }[]>`
      select distinct unnest(array[valid_from, valid_to]) as at from recorder.validators where node_id in ('member-10', 'member-7', 'odd')`;
    const moments = bounds.flatMap(({ at }) =>
      at ? [at.getTime() - 1, at.getTime(), at.getTime() + 1] : [],
    );
    const within = moments.filter((at) => at >= start);
    expect(within.length).toBeGreaterThan(500);
    for (const at of within) {
      const moment = new Date(at);
      const [actual] = await sql`
        select count(*)::int as n, sum(weight)::int as weights from reporting.node_validators_as_of(${moment}) where node = 'held'`;
      const [plain] = await sql`
        select count(*)::int as n, sum(weight)::int as weights from reporting.node_validators_history
        where node = 'held' and valid_from <= ${moment} and (valid_to is null or valid_to > ${moment})`;
      expect(actual, moment.toISOString()).toEqual(plain);
    }
    const plan = await sql`explain select * from reporting.node_validators_as_of('2026-11-03')`;
    expect(JSON.stringify(plan)).toContain('validators_held');
  });

  it('a log returns the recorded entries, readings the polled ones; before the first an error names the start', async () => {
    const clock = new ManualClock(start);
    const context = recordingContext(sql, clock.read);
    const blocks = scriptedFeed(pBlocks, { node: 'n' });
    const heights = scriptedFeed(chainHeights, { node: 'n' });
    for (const height of [1, 2, 3]) {
      blocks.script = () => onlyPage({ blocks: [{ height }] });
      heights.script = () => onlyPage({ height: String(height) });
      await run(context, blocks);
      await run(context, heights);
      clock.now += hour;
    }
    const count = async (name: string, at: number) =>
      (await sql.unsafe(`select from ${relationSql(`${name}_as_of`)}('${new Date(at).toISOString()}')`))
        .length;
    for (const [name, relation] of [
      ['p_blocks', 'node_p_blocks'],
      ['p_blocks', 'p_blocks'],
      ['chain_heights', 'chain_heights'],
    ] as const) {
      expect([
        await count(relation, start),
        await count(relation, start + 1.5 * hour),
        await count(relation, start + 9 * hour),
      ]).toEqual([1, 2, 3]);
      await expect(count(relation, start - 1)).rejects.toMatchObject({
        message: `there is no record of ${name} at 2026-10-31T23:59:59Z`,
        hint: 'recorded since 2026-11-01T00:00:00.000000Z',
      });
    }
    const [since] =
      await sql`select recorded_since from reporting_internal.recorded_since where dataset = 'p_blocks'`;
    expect(since?.recorded_since).toEqual(new Date(start));
  });

  it('a log returns the version of an entry that was known then', async () => {
    const clock = new ManualClock(start + 100 * hour);
    const context = recordingContext(sql, clock.read);
    const blocks = scriptedFeed(pBlocks, { node: 'fickle' });
    for (const time of [1, 2, 3]) {
      blocks.script = () => onlyPage({ blocks: [{ height: 1, id: 'one', time }] });
      await run(context, blocks);
      clock.now += hour;
    }
    const timeAsOf = async (at: number) =>
      (
        await sql`select extract(epoch from time)::int as time from reporting.node_p_blocks_as_of(${new Date(start + at * hour)}) where node = 'fickle'`
      ).map(({ time }) => time);
    expect([await timeAsOf(99), await timeAsOf(100.5), await timeAsOf(101.5), await timeAsOf(102.5)]).toEqual(
      [[], [1], [2], [3]],
    );
  });

  it('blocks are counted by the versions known then, whatever changed later', async () => {
    const clock = new ManualClock(start + 200 * hour);
    const context = recordingContext(sql, clock.read);
    const proposed = scriptedFeed(proposedBlocks, {
      network: 'mainnet',
      blockchainId: 'p-chain',
      nodeId: 'NodeID-1',
    });
    const blocks = scriptedFeed(pBlocks, { node: 'counting' });
    const DAY = 24 * hour;
    const day = start + 7 * DAY;
    const recordBlocks = async (txCount: number, lowestAt: number) => {
      proposed.script = () =>
        onlyPage({
          blocks: [
            {
              ...proposedBlocks.example,
              blockNumber: '14',
              blockTimestamp: day / 1000,
              txCount,
              proposerDetails: { proposerNodeId: 'NodeID-1' },
            },
          ],
        });
      blocks.script = () => onlyPage({ blocks: [{ height: 12, time: lowestAt / 1000 }] });
      await run(context, proposed);
      await run(context, blocks);
      clock.now += hour;
    };
    const countBlocks = (at: number) =>
      sql`select blocks, transactions, chain_blocks from reporting.blocks_proposed(
        ${new Date(day)}, ${new Date(day + DAY)}, as_of => ${new Date(at)})`;
    const then = clock.now + hour / 2;
    await recordBlocks(3, day - DAY);
    const firstCount = await countBlocks(then);
    expect([...firstCount]).toEqual([{ blocks: '1', transactions: '3', chain_blocks: '2' }]);
    await recordBlocks(5, day);
    expect([...(await countBlocks(clock.now))]).toEqual([
      { blocks: '1', transactions: '5', chain_blocks: null },
    ]);
    expect([...(await countBlocks(then))]).toEqual([...firstCount]);
  });

  it('the elements of lists are those of the moment', async () => {
    const clock = new ManualClock(start);
    const context = recordingContext(sql, clock.read);
    const list = scriptedFeed(validators, { node: 'lists', subnetId: 's' });
    const owners = (...addresses: string[]) => ({
      validators: [{ nodeID: 'v', startTime: 1, weight: 1, validationRewardOwner: { addresses } }],
    });
    for (const addresses of [['x', 'y'], ['z']]) {
      list.script = () => onlyPage(owners(...addresses));
      await run(context, list);
      clock.now += hour;
    }
    const elements = async (at: number) => [
      ...(await sql`select e.node, e.node_id, e.position::int, e.value
        from reporting_lists.node_validators_validation_reward_owner_addresses e
        join reporting.node_validators_as_of(${new Date(at)}) using (version_id)
        order by e.position`),
    ];
    const row = { node: 'lists', node_id: 'v' };
    expect(await elements(start)).toEqual([
      { ...row, position: 1, value: 'x' },
      { ...row, position: 2, value: 'y' },
    ]);
    expect(await elements(start + hour)).toEqual([{ ...row, position: 1, value: 'z' }]);
    await expect(elements(start - 1)).rejects.toMatchObject({ hint: expect.stringContaining('2026-11-01') });
  });

  it('resolves names in a query to their meaning at the moment', async () => {
    const both = 'select (select count(*) from p_blocks), (select max(height) from chain_heights)';
    expect(await queryAsOf(both, start)).toEqual([['1', '1']]);
    expect(await queryAsOf(both, start + 1.5 * hour)).toEqual([['2', '2']]);
    await expect(queryAsOf(both, start - 1)).rejects.toThrow('recorded since 2026-11-01');
    await expect(queryAsOf('select * from reporting.node_p_blocks', start)).rejects.toThrow(
      'write node_p_blocks instead of reporting.node_p_blocks',
    );
    const [newest] = await sql`
      update recorder.p_blocks set valid_from = valid_from + interval '123 microseconds' where height = (
        select max(height) from recorder.p_blocks) returning valid_from::text as at`;
    const [all] = await sql`
      select count(*)::text from reporting.node_p_blocks_as_of(${newest?.at}::text::timestamptz)`;
    expect(
      await queryAsOf('select count(*) from node_p_blocks', parseExactInstant(newest?.at) ?? ''),
    ).toEqual([[all?.count]]);
    await sql`update recorder.p_blocks set valid_from = date_trunc('milliseconds', valid_from)`;
    const elements = 'select count(*) from node_validators_validation_reward_owner_addresses';
    expect(await queryAsOf(elements, start)).toEqual([['2']]);
    await expect(queryAsOf('select * from freshness', start)).rejects.toThrow('freshness');
    await expect(queryAsOf('select 1; select 2', start)).rejects.toThrow('only one statement is allowed');
  });
});

describe('the check that a record exists', () => {
  const moment = '2001-01-01';

  it('runs for every way to read rows, also if none is found', async () => {
    for (const { name, relation, key } of relations)
      for (const settings of [
        {},
        { enable_sort: 'off', enable_seqscan: 'off', enable_bitmapscan: 'off' },
        { enable_nestloop: 'off' },
      ])
        await expect(
          sql.begin(async (tx) => {
            for (const [setting, value] of Object.entries(settings))
              await tx`select set_config(${setting}, ${value}, true)`;
            return tx.unsafe(
              `select * from ${relationSql(`${relation}_as_of`)}('${moment}') order by ${[...key, '1'].join(', ')} limit 1`,
            );
          }),
          `${relation}, ${JSON.stringify(settings)}`,
        ).rejects.toThrow(`there is no record of ${name}`);
  });

  it('does not run for each row if a query joins many moments', async () => {
    const [tracked] = await sql.begin(async (tx) => {
      await tx`set local track_functions = 'all'`;
      const [joined] = await tx<{ rows: number }[]>`
        select count(r.node)::int as rows from generate_series(1, 3) n
        left join lateral reporting.node_validators_as_of(${new Date(start + 50 * hour)}::timestamptz + n * interval '1 hour') r on true`;
      expect(joined?.rows).toBeGreaterThan(100);
      return tx<{ calls: number }[]>`
        select coalesce(sum(calls), 0)::int as calls from pg_stat_xact_user_functions
        where schemaname = 'reporting_internal' and funcname in ('has_record', 'known_since')`;
    });
    expect(tracked?.calls).toBeLessThanOrEqual(3);
  });
});
