import { pino } from 'pino';
import { beforeEach, describe, expect } from 'vitest';
import { until } from '../../chaos/until.ts';
import { nftTokens } from '../../src/datasets/chain-data/nft-tokens.ts';
import { pendingRewards } from '../../src/datasets/chain-data/pending-rewards.ts';
import type { Dataset, Target } from '../../src/datasets/contract.ts';
import { validators } from '../../src/datasets/node/validators.ts';
import { LEASE_SECONDS } from '../../src/db/leases.ts';
import { withDefaultSettings } from '../../src/recording/active-feed.ts';
import { claimRun } from '../../src/recording/claim-run.ts';
import { loadStates, planDue } from '../../src/recording/plan.ts';
import { registerAll } from '../../src/recording/register.ts';
import { retireRemovedTargets } from '../../src/recording/retire-removed-targets.ts';
import { targetKey } from '../../src/recording/target-key.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { onlyPage, recordingContext, run } from '../support/scripted-feed.ts';

const { it, sql } = withDatabase();
const by = { recorder: 'recorder', digest: null };
const clock = new ManualClock(Date.UTC(2026, 0, 10));
let nodes = 0;

beforeEach(async () => {
  clock.now += 60_000;
  await registerAll(sql, [], clock.now, by);
  await retireTargets();
});

/** A feed over the dataset's own source, so that the catalog contains it, with the responses of the test. */
function createFeed(dataset: Dataset, targets: readonly Target[], body: unknown) {
  const source = { ...dataset.source, walk: () => onlyPage(body) };
  return withDefaultSettings({ source, datasets: [{ ...dataset, source }] }, targets);
}
const listOf = (count: number) => ({
  validators: Array.from({ length: count }, (_, at) => ({ nodeID: `node-${at}`, startTime: 1, weight: 1 })),
});
const context = () => recordingContext(sql, clock.read);

async function retireTargets(): Promise<string[]> {
  const lines: string[] = [];
  await retireRemovedTargets(
    context(),
    by,
    pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }),
  );
  return lines;
}

/** Moves the end of a lease to this many seconds from now. */
const setLeaseEnd = (target: Target, seconds: number) => sql`
  update recorder.targets set lease_until = now() + make_interval(secs => ${seconds})
  where target_key = ${targetKey(target)}`;

function createWatchedTarget() {
  nodes += 1;
  const target = { node: `n${nodes}`, subnetId: 's' };
  const history = async () => [
    ...(await sql<{ ended_by: string | null; n: number }[]>`
      select ended_by, count(*)::int as n from reporting.node_validators_history where node = ${target.node}
      group by 1 order by 1 nulls last`),
  ];
  return { target, history, feed: (count: number) => createFeed(validators, [target], listOf(count)) };
}

describe('a target that leaves the configuration', () => {
  it('ends its members once, with the reason, in changes and reports; when it returns they are new', async () => {
    const { feed, history, target } = createWatchedTarget();
    await registerAll(sql, [feed(3)], clock.now, by);
    await run(context(), feed(3));
    clock.now += 1000;
    await registerAll(sql, [], clock.now, by);
    const lines = await retireTargets();
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ dataset: 'validators', members: 3 });
    expect(await retireTargets()).toEqual([]);
    expect(await history()).toEqual([{ ended_by: 'unwatched', n: 3 }]);
    expect(await sql`select 1 from reporting.node_validators where node = ${target.node}`).toHaveLength(0);
    const runs = await sql`
      select reason, status, rows_written::int from reporting.runs where target = ${targetKey(target)} order by run_id`;
    expect([...runs].at(-1)).toEqual({ reason: 'unwatched', status: 'done', rows_written: 3 });
    clock.now += 1000;
    await registerAll(sql, [feed(2)], clock.now, by);
    const [freshness] = await sql`
      select last_success_at, last_complete_at from reporting.freshness where target = ${targetKey(target)}`;
    expect(freshness, 'nothing of it is current').toEqual({ last_success_at: null, last_complete_at: null });
    expect(planDue(feed(2), await loadStates(sql, feed(2)), clock.now)).toMatchObject([
      { target, reason: 'poll' },
    ]);
    expect(await run(context(), feed(2))).toMatchObject({ status: 'done', rowsWritten: [2] });
    expect(await history()).toEqual([
      { ended_by: 'unwatched', n: 3 },
      { ended_by: null, n: 2 },
    ]);
  });

  it('is not polled any more by a process with an older configuration', async () => {
    const { feed, target } = createWatchedTarget();
    await registerAll(sql, [feed(1)], clock.now, by);
    await run(context(), feed(1));
    await registerAll(sql, [], clock.now, by);
    const at = new Date(clock.now).toISOString();
    for (const reason of ['poll', 'heal', 'sweep'] as const)
      expect(await claimRun(sql, feed(1), { target, window: null, reason }, 'old', at)).toBe('outdated');
    // A target requested by hand is recorded.
    expect(await claimRun(sql, feed(1), { target, window: null, reason: 'manual' }, 'old', at)).toBeTypeOf(
      'number',
    );
    await setLeaseEnd(target, -1);
    expect(await retireTargets()).toHaveLength(1);
  });

  it('waits for the run that holds it', async () => {
    const { feed, target, history } = createWatchedTarget();
    await registerAll(sql, [feed(1)], clock.now, by);
    await run(context(), feed(1));
    const at = new Date(clock.now).toISOString();
    await claimRun(sql, feed(1), { target, window: null, reason: 'poll' }, 'busy', at);
    await registerAll(sql, [], clock.now, by);
    await setLeaseEnd(target, LEASE_SECONDS);
    expect(await retireTargets()).toEqual([]);
    expect(await history()).toEqual([{ ended_by: null, n: 1 }]);
    await setLeaseEnd(target, -1);
    expect(await retireTargets()).toHaveLength(1);
    expect(await history()).toEqual([{ ended_by: 'unwatched', n: 1 }]);
  });

  it('is ended once by two concurrent processes, and completely after a kill in between', async () => {
    const { feed, target, history } = createWatchedTarget();
    const memberCount = 12_000;
    await registerAll(sql, [feed(memberCount)], clock.now, by);
    await run(context(), feed(memberCount));
    await registerAll(sql, [], clock.now, by);
    // The first process ended 5,000 members and was killed: its run is stored as running, and its lease expires.
    const at = new Date(clock.now).toISOString();
    const killedRunId = await claimRun(
      sql,
      feed(1),
      { target, window: null, reason: 'unwatched' },
      'killed',
      at,
    );
    await sql`
      update recorder.validators set valid_to = ${at}::timestamptz + interval '1 second', ended_by = 'unwatched'
      where ctid = any(array(select ctid from recorder.validators where node = ${target.node} limit 5000))`;
    await setLeaseEnd(target, LEASE_SECONDS);
    expect(await retireTargets()).toEqual([]);
    await setLeaseEnd(target, -1);
    const lines = (await Promise.all([retireTargets(), retireTargets()])).flat();
    expect(lines).toHaveLength(1);
    expect(await history()).toEqual([{ ended_by: 'unwatched', n: memberCount }]);
    const runs = await sql<{ run_id: string; status: string; rows: number }[]>`
      select run_id, status, rows_written::int as rows from reporting.runs
      where target = ${targetKey(target)} and reason = 'unwatched' order by run_id`;
    // The second process may have taken the target over when nothing was left to end.
    expect(
      runs.map(({ status, rows }) => [status, rows]).filter(([status, rows]) => status !== 'done' || rows),
    ).toEqual([
      ['lost', 0],
      ['done', 7_000],
    ]);
    expect(Number(runs[0]?.run_id)).toBe(killedRunId);
  });

  it('is not reported again by a process that read it before another one ended it', async () => {
    const [first, second] = [createWatchedTarget(), createWatchedTarget()];
    const both = createFeed(validators, [first.target, second.target], listOf(1));
    await registerAll(sql, [both], clock.now, by);
    for (const { feed } of [first, second]) await run(context(), feed(1));
    clock.now += 1000;
    await registerAll(sql, [second.feed(1)], clock.now, by);
    clock.now += 1000;
    await registerAll(sql, [], clock.now, by);
    let slowRun: Promise<string[]> | undefined;
    await sql.begin(async (blocking) => {
      await blocking`select from recorder.targets where target_key = ${targetKey(first.target)} for update`;
      slowRun = retireTargets();
      await until('it to wait for the first target', async () => {
        const waiting = await sql`
          select from pg_stat_activity where wait_event_type = 'Lock' and query like '%claimed as materialized%'`;
        return waiting.length > 0;
      });
      await sql`
        update recorder.target_datasets set ended_at = now() where target_key = ${targetKey(first.target)}`;
      expect(await retireTargets()).toHaveLength(1);
    });
    expect(await slowRun).toEqual([]);
    expect(await second.history()).toEqual([{ ended_by: 'unwatched', n: 1 }]);
  });

  it('that is configured again before it was ended keeps its members', async () => {
    const { feed, history } = createWatchedTarget();
    await registerAll(sql, [feed(2)], clock.now, by);
    await run(context(), feed(2));
    await registerAll(sql, [], clock.now, by);
    await registerAll(sql, [feed(2)], clock.now, by);
    expect(await retireTargets()).toEqual([]);
    expect(await history()).toEqual([{ ended_by: null, n: 2 }]);
  });

  it('does not change rows of another target', async () => {
    const targetOf = (addresses: string) => ({ network: 'n', addresses, nodeIds: '' });
    const reward = { txHash: 'x', rewardType: 'VALIDATOR', addresses: ['a'], amountStaked: '1' };
    const feed = (addresses: string) =>
      createFeed(pendingRewards, [targetOf(addresses)], {
        pendingRewards: [{ ...pendingRewards.example, ...reward }],
      });
    await registerAll(sql, [feed('a')], clock.now, by);
    await run(context(), feed('a'));
    await registerAll(sql, [feed('a,b')], clock.now, by);
    await retireTargets();
    expect(await sql`select 1 from reporting.pending_rewards`).toHaveLength(1);
    await registerAll(sql, [], clock.now, by);
    await retireTargets();
    expect(await sql`select 1 from reporting.pending_rewards`).toHaveLength(0);
  });
});

describe('a target that was requested by hand', () => {
  it('is not ended, because it was never watched', async () => {
    const token = { chainId: '1', collection: '0xa', tokenId: '7' };
    const feed = createFeed(nftTokens, [], {
      tokens: [{ ...nftTokens.example, address: '0xa', tokenId: '7' }],
    });
    await run(context(), { ...feed, targets: [token] });
    await registerAll(sql, [feed], clock.now, by);
    await registerAll(sql, [], clock.now, by);
    await retireTargets();
    expect(await sql`select 1 from reporting.nft_tokens where collection = '0xa'`).toHaveLength(1);
    // It does not end with the list either that is watched beside it, and removed.
    const list = createFeed(nftTokens, [{ chainId: '1', collection: '0xa' }], {
      tokens: [
        { ...nftTokens.example, address: '0xa', tokenId: '7' },
        { ...nftTokens.example, address: '0xa', tokenId: '8' },
      ],
    });
    await registerAll(sql, [list], clock.now, by);
    await run(context(), list);
    await registerAll(sql, [], clock.now, by);
    await retireTargets();
    const remaining = await sql`select token_id::text from reporting.nft_tokens where collection = '0xa'`;
    expect([...remaining]).toEqual([{ token_id: '7' }]);
  });
});
