import { expect } from 'vitest';
import { nodeIdentity } from '../../../src/datasets/node/node-identity.ts';
import { validatorDelegators } from '../../../src/datasets/node/validator-delegators.ts';
import { validatorUptime } from '../../../src/datasets/node/validator-uptime.ts';
import { validators } from '../../../src/datasets/node/validators.ts';
import { networkViews } from '../../../src/reporting/reports/rewards.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../../support/scripted-feed.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const start = Date.UTC(2026, 0, 10);
const SUBNET = '11111111111111111111111111111111LpoYY';
const { it, sql } = withDatabase();

it('is the node with the longest record among the nodes whose lists are not a day older than the newest', async () => {
  const clock = new ManualClock(start);
  const feeds = new Map(
    ['first', 'second'].map((node) => [node, scriptedFeed(validators, { node, subnetId: SUBNET })]),
  );
  const poll = async (at: number, node: string) => {
    clock.now = start + at;
    const feed = feeds.get(node);
    if (!feed) throw new Error(`${node} is not polled`);
    feed.script = () => onlyPage({ validators: [{ nodeID: 'a', startTime: 1, weight: 5 }] });
    await run(recordingContext(sql, clock.read), feed);
  };
  await poll(0, 'first');
  await poll(HOUR, 'second');
  await poll(DAY, 'second');
  await poll(2 * DAY, 'second');
  await poll(2 * DAY + HOUR, 'first');
  const viewer = async (at: number) => {
    const [row] = await sql<{ node: string | null }[]>`
      select reporting_internal.validator_viewer(${SUBNET}, ${new Date(start + at)}) as node`;
    return row?.node;
  };
  const moments = [-HOUR, 0, HOUR, DAY, DAY + HOUR, 2 * DAY, 2 * DAY + HOUR, 9 * DAY];
  expect(await Promise.all(moments.map(viewer))).toEqual([
    null,
    'first',
    'first',
    'first',
    'first',
    'second',
    'first',
    'first',
  ]);
});

it('ended stakes and delegations are not current because a node that no longer answers keeps its last list', async () => {
  await sql`truncate recorder.validators`;
  const clock = new ManualClock(start);
  const context = recordingContext(sql, clock.read);
  const atOnce = { confirmShrink: { observations: 1, minDuration: 0 } };
  const lists = new Map(
    ['dead', 'live'].map((node) => [
      node,
      {
        validators: scriptedFeed([validators, validatorUptime], { node, subnetId: SUBNET }, atOnce),
        delegations: scriptedFeed(validatorDelegators, { node, subnetId: SUBNET, nodeId: 'mine' }, atOnce),
      },
    ]),
  );
  const span = { startTime: start / 1000, endTime: (start + 2 * DAY) / 1000, weight: 1 };
  const poll = async (at: number, node: string, delegations: readonly string[]) => {
    clock.now = start + at;
    const feeds = lists.get(node);
    if (!feeds) throw new Error(`${node} is not polled`);
    const seen = { ...span, uptime: '99', connected: true };
    const other = { nodeID: 'other', txID: 'other', ...seen, endTime: (start + 99 * DAY) / 1000 };
    const mine = delegations.length > 0 ? [{ nodeID: 'mine', txID: 'mine', ...seen }] : [];
    feeds.validators.script = () => onlyPage({ validators: [other, ...mine] });
    await run(context, feeds.validators);
    const delegators = delegations.map((txID) => ({ txID, ...span }));
    feeds.delegations.script = () =>
      onlyPage({ validators: [{ delegatorCount: String(delegators.length), delegators }] });
    await run(context, feeds.delegations);
  };
  const identity = scriptedFeed(nodeIdentity, { node: 'dead' });
  identity.script = () => onlyPage({ ...nodeIdentity.example, nodeID: 'mine' });
  await run(context, identity);
  await poll(0, 'dead', ['one']);
  await poll(HOUR, 'live', ['one']);
  await poll(DAY, 'live', ['one', 'two']);
  await poll(2 * DAY, 'live', []);
  await poll(4 * DAY, 'live', []);
  const asOf = new Date(start + 4 * DAY);
  const validationsAt = async (at: Date) =>
    (await networkViews(sql, { minUptime: 80, minUptimeAfterUpgrade: 90 }, at.toISOString())).validations;
  expect(await validationsAt(new Date(start + DAY))).toHaveLength(2);
  expect(await validationsAt(asOf)).toEqual([]);
  expect([
    ...(await sql`select stake_avax, end_time from reporting.my_validators(as_of => ${asOf})`),
    ...(await sql`select stake_navax, validation_end as end_time from reporting.nodes where node = 'dead'`),
  ]).toEqual([
    { stake_avax: null, end_time: null },
    { stake_navax: null, end_time: null },
  ]);
  expect([...(await sql`select tx_id from reporting.largest_delegations(as_of => ${asOf})`)]).toEqual([]);
  expect(
    [
      ...(await sql`
        select change, tx_id from reporting.delegation_movements(${new Date(start)}, ${asOf}, as_of => ${asOf})`),
    ].map(({ change, tx_id }) => [change, tx_id]),
  ).toEqual([
    ['joined', 'two'],
    ['left', 'one'],
    ['left', 'two'],
  ]);
});
