import fc from 'fast-check';
import { afterEach, describe, expect } from 'vitest';
import { proposedBlocks } from '../../src/datasets/chain-data/proposed-blocks.ts';
import { subnets } from '../../src/datasets/chain-data/subnets.ts';
import { validators } from '../../src/datasets/node/validators.ts';
import { storeByBisection, TooManyRefusalsError } from '../../src/db/bisect-insert.ts';
import { redrive } from '../../src/recording/redrive.ts';
import { targetKey } from '../../src/recording/target-key.ts';
import type { FailureKind } from '../../src/upstreams/failure.ts';
import { parseJson } from '../../src/upstreams/json.ts';
import { block, blocksTarget } from '../support/blocks.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import {
  failingWalk,
  jobFor,
  onlyPage,
  recordingContext,
  run,
  type ScriptedFeed,
  scriptedFeed,
} from '../support/scripted-feed.ts';

const { it, sql } = withDatabase();
const clock = new ManualClock(Date.UTC(2026, 0, 10));
const context = () => recordingContext(sql, clock.read);

/** An error of PostgreSQL about a value. */
const refusal = (code: string) =>
  sql
    .unsafe(`do $$ begin raise exception 'no' using errcode = '${code}'; end $$`)
    .catch((error: unknown) => error);

describe('a bisected insert', () => {
  it('finds every part that cannot be stored, and stores every other once, in few statements', async () => {
    const error = await refusal('22003');
    const parts = fc.array(fc.boolean(), { minLength: 1, maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(parts, async (invalid) => {
        const stored: number[] = [];
        let statements = 0;
        const refusals = await storeByBisection([...invalid.keys()], async (part) => {
          statements += 1;
          if (part.some((n) => invalid[n])) throw error;
          stored.push(...part);
        });
        const expected = invalid.flatMap((isInvalid, n) => (isInvalid ? [n] : []));
        expect(refusals.map(({ item }) => item)).toEqual(expected);
        expect(stored).toEqual(invalid.flatMap((isInvalid, n) => (isInvalid ? [] : [n])));
        const depth = Math.ceil(Math.log2(invalid.length)) + 1;
        expect(statements).toBeLessThanOrEqual(2 * expected.length * depth + 2);
      }),
    );
  });

  it('stops at errors that are not about data, and if nothing can be stored', async () => {
    const connectionError = new Error('CONNECTION_CLOSED');
    await expect(storeByBisection([1, 2, 3], () => Promise.reject(connectionError))).rejects.toBe(
      connectionError,
    );
    const error = await refusal('23514');
    await expect(
      storeByBisection([...Array(5_000).keys()], () => Promise.reject(error), 1_000),
    ).rejects.toThrow(TooManyRefusalsError);
  });
});

/** Lets PostgreSQL refuse one value of a column. */
async function refuseRows(
  table: string,
  condition: string,
  code: string,
  body = 'and tg_op = $q$INSERT$q$',
): Promise<void> {
  await sql.unsafe(`
    create or replace function public.refuse() returns trigger language plpgsql as $$
    begin if ${condition} ${body} then raise exception 'planted' using errcode = '${code}'; end if; return new; end $$;
    create or replace trigger refuse before insert or update on recorder.${table} for each row execute function public.refuse()`);
}

const selectQuarantine = (feed: ScriptedFeed) => sql<
  { dataset: string; reason: string; times: number; item: string }[]
>`
  select dataset, reason, times::int, item from reporting.quarantine where target = ${targetKey(jobFor(feed).target)}`;
const selectIncompleteness = async (feed: ScriptedFeed) =>
  (
    await sql`select incomplete_reason as reason, incomplete_since as since from recorder.target_datasets where source = ${feed.source.name}`
  )[0];

describe('a commit that fails because of its data', () => {
  afterEach(async () => {
    await sql.unsafe('drop function if exists public.refuse() cascade');
  });

  it.each([
    ...['22003', '22P05', '23514', '23505', '54000', 'P0001'].map((code) => [code, 'poll'] as const),
    ...['23514', '23505'].map((code) => [code, 'backfill'] as const),
  ])('loses the one row that PostgreSQL refuses with %s in a %s', async (code, reason) => {
    const record = () => run(context(), feed, null, new AbortController().signal, reason);
    await refuseRows('proposed_blocks', `new.block_hash = 'hash-137'`, code);
    const feed = scriptedFeed(proposedBlocks, blocksTarget());
    const blocks = Array.from({ length: 300 }, (_, n) => block(n + 1, 1_700_000_000 + n));
    feed.script = () => onlyPage({ blocks });
    expect(await record()).toMatchObject({
      status: 'partial',
      items: 300,
      rowsWritten: [299],
      quarantined: 1,
    });
    expect(await record()).toMatchObject({
      status: 'partial',
      items: 300,
      rowsWritten: [0],
      quarantined: 1,
    });
    const rows = await selectQuarantine(feed);
    expect(rows).toEqual([
      {
        dataset: 'proposed_blocks',
        reason: 'PostgreSQL: planted',
        times: 2,
        item: JSON.stringify(blocks[136]),
      },
    ]);
    const [{ n } = { n: 0 }] = await sql<{ n: number }[]>`
      select count(*)::int as n from recorder.proposed_blocks where blockchain_id = ${feed.targets[0]?.blockchainId ?? ''}`;
    expect(n).toBe(299);
    const [counts] =
      await sql`select pages::int, items[1]::int as items, rows_written[1]::int as rows, quarantined::int
      from recorder.runs where source = ${feed.source.name} order by run_id limit 1`;
    expect(counts).toEqual({ pages: 1, items: 300, rows: 299, quarantined: 1 });
  });

  it('finds the row although the body of its page is released', async () => {
    await refuseRows('proposed_blocks', `new.block_hash = 'hash-137'`, '23514');
    const feed = scriptedFeed(proposedBlocks, blocksTarget());
    const responseText = JSON.stringify({
      blocks: Array.from({ length: 300 }, (_, n) => ({ ...block(n + 1, 1_700_000_000 + n), novel: n })),
    });
    const body = JSON.parse(responseText);
    feed.script = async function* () {
      yield { body, proven: null, last: false, whole: true };
      await new Promise(setImmediate); // the page is decoded, and the next one is requested
      body.blocks.length = 0;
      yield { body: { blocks: [block(301, 1_700_000_301)] }, proven: null, last: true, whole: true };
    };
    expect(await run(recordingContext(sql, clock.read), feed)).toMatchObject({
      status: 'partial',
      items: 301,
      rowsWritten: [300],
      quarantined: 1,
    });
    const [refused] = await selectQuarantine(feed);
    expect(JSON.parse(refused?.item ?? '')).toEqual(JSON.parse(responseText).blocks[136]);
  });

  it('keeps a key that an earlier commit of the run stored', async () => {
    await refuseRows('subnets', `new.subnet_id = 'bad'`, '23514');
    const feed = scriptedFeed(subnets, { network: 'halves' });
    const subnet = (subnetId: string, createBlockIndex: string) => ({
      ...subnets.example,
      subnetId,
      createBlockIndex,
    });
    const selectStored = () =>
      sql<{ subnet_id: string; at: number }[]>`
        select subnet_id, create_block_index::int as at from reporting.subnets where network = 'halves' order by 1`;
    feed.script = async function* () {
      const first = Array.from({ length: 1_000 }, (_, n) => subnet(`s${n}`, '1'));
      yield { body: { subnets: first }, proven: null, last: false, whole: true };
      await expect.poll(async () => (await selectStored()).length).toBe(1_000);
      const second = [subnet('s1', '2'), subnet('bad', '1'), subnet('t', '1')];
      yield { body: { subnets: second }, proven: null, last: true, whole: true };
    };
    expect(await run(context(), feed)).toMatchObject({
      status: 'partial',
      rowsWritten: [1_001],
      quarantined: 1,
    });
    expect((await selectStored()).filter(({ subnet_id }) => ['s1', 't', 'bad'].includes(subnet_id))).toEqual([
      { subnet_id: 's1', at: 1 },
      { subnet_id: 't', at: 1 },
    ]);
  });

  it.each<{ state: string; by: FailureKind }>([
    { state: 'failing', by: 'server' },
    { state: 'not offered', by: 'unsupported' },
  ])(
    'is redriven once PostgreSQL accepts it, without a change of its target, which stays $state',
    async ({ by }) => {
      await sql`truncate recorder.quarantine`;
      await refuseRows('proposed_blocks', `new.block_hash = 'hash-2'`, '23514');
      const feed = scriptedFeed(proposedBlocks, blocksTarget());
      feed.script = () => onlyPage({ blocks: [block(1, 1), block(2, 2), block(3, 3)] });
      await run(context(), feed);
      feed.script = failingWalk(by, 'as planted');
      for (let runs = 0; runs < 3; runs++) await run(context(), feed);
      const selectTargetState = () => sql`
      select failures, unsupported_reason, last_failure_at, last_error, last_success_at, last_complete_at, incomplete_since
      from recorder.target_datasets where source = ${feed.source.name}`;
      const before = [...(await selectTargetState())];
      const [targetState] = before;
      expect(targetState?.failures === 3 || targetState?.unsupported_reason === 'as planted').toBe(true);
      expect(await redrive(context(), [feed])).toMatchObject({ released: 0, rowsWritten: 0 });
      expect(await selectQuarantine(feed)).toHaveLength(1);
      expect([...(await selectTargetState())]).toEqual(before);
      await sql.unsafe('drop function public.refuse() cascade');
      expect(await redrive(context(), [feed])).toMatchObject({ released: 1, rowsWritten: 1 });
      expect(await selectQuarantine(feed)).toEqual([]);
      expect([...(await selectTargetState())]).toEqual(before);
    },
  );

  it('fails its run with the reason if it is about no item', async () => {
    const feed = scriptedFeed(validators, { node: 'x', subnetId: 'unretirable' });
    feed.script = () =>
      onlyPage({
        validators: [
          { nodeID: 'a', startTime: 1, weight: 1 },
          { nodeID: 'b', startTime: 1, weight: 1 },
        ],
      });
    await run(context(), feed);
    await refuseRows('validators', `new.node_id = 'b'`, '23514', '');
    clock.now += 1000;
    feed.script = () => onlyPage({ validators: [{ nodeID: 'a', startTime: 1, weight: 1 }] });
    expect(await run(context(), feed)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('planted'),
    });
  });
});

describe('a member that cannot be stored', () => {
  const day = 86_400_000;
  const DAYS = 2;
  const member = (name: string, more: object = {}) => ({ nodeID: name, startTime: 1, weight: 1, ...more });

  it.each([
    ['not decoded', { weight: 'heavy' }],
    ['refused by PostgreSQL', { novel: '@' }],
  ])(
    'because it is %s is kept, does not block changes of others for days, and is reported',
    async (reason, invalidFields) => {
      const feed = scriptedFeed(validators, { node: 'week', subnetId: reason });
      const setResponse = (list: readonly object[]) => {
        // A number in an unknown field that no column type of PostgreSQL can store.
        const text = JSON.stringify({ validators: list }).replace('"@"', '1e200000');
        feed.script = () => onlyPage(parseJson(text));
      };
      setResponse([member('bad'), member('m0')]);
      const first = clock.now;
      await run(context(), feed);
      for (let poll = 1; poll <= DAYS * 24; poll++) {
        clock.now += day / 24;
        const dayNumber = Math.floor(poll / 24);
        // The invalid one changes at every poll, one leaves and one joins each day.
        setResponse([
          member('bad', { ...invalidFields, uptime: String(poll) }),
          member(`m${dayNumber}`),
          member('always'),
        ]);
        expect(await run(context(), feed)).toMatchObject({ status: 'partial', quarantined: 1 });
      }
      const rows = await sql<{ node_id: string; from: Date; to: Date | null }[]>`
      select node_id, valid_from as from, valid_to as to from reporting.node_validators_history where subnet_id = ${reason}
      order by valid_from, node_id`;
      const at = (hours: number) => new Date(first + (hours * day) / 24);
      expect([...rows]).toEqual([
        { node_id: 'bad', from: at(0), to: null },
        { node_id: 'm0', from: at(0), to: at(24) },
        { node_id: 'always', from: at(1), to: null },
        ...[1, 2].map((n) => ({
          node_id: `m${n}`,
          from: at(24 * n),
          to: n < DAYS ? at(24 * (n + 1)) : null,
        })),
      ]);
      expect(await selectQuarantine(feed)).toEqual([
        expect.objectContaining({ dataset: 'validators', times: DAYS * 24 }),
      ]);
      expect(await selectIncompleteness(feed)).toEqual({
        reason: expect.stringContaining('1 item in the quarantine'),
        since: at(1),
      });
    },
  );

  it('with an unreadable key prevents all retirements, which is reported', async () => {
    const feed = scriptedFeed(validators, { node: 'week', subnetId: 'unknown' });
    feed.script = () => onlyPage({ validators: [member('a'), member('b')] });
    await run(context(), feed);
    clock.now += 1000;
    feed.script = () => onlyPage({ validators: [member('a'), { ...member('b'), nodeID: 7 }] });
    await run(context(), feed);
    const rows =
      await sql`select node_id from reporting.node_validators where subnet_id = 'unknown' order by 1`;
    expect(rows.map(({ node_id }) => node_id)).toEqual(['a', 'b']);
    expect(await selectIncompleteness(feed)).toMatchObject({
      reason: expect.stringContaining('1 item without a readable key'),
    });
  });
});
