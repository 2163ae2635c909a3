import { expect } from 'vitest';
import { nodeIdentity } from '../../../src/datasets/node/node-identity.ts';
import { validatorUptime } from '../../../src/datasets/node/validator-uptime.ts';
import { validators } from '../../../src/datasets/node/validators.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../../support/scripted-feed.ts';

const subnetId = '11111111111111111111111111111111LpoYY';
const start = Date.UTC(2026, 0, 1);
const { it, sql } = withDatabase();

const clock = new ManualClock(start + 3_600_000);
const context = () => recordingContext(sql, clock.read);

async function recordIdentity(node: string, nodeID: string) {
  const feed = scriptedFeed(nodeIdentity, { node });
  feed.script = () => onlyPage({ ...nodeIdentity.example, nodeID });
  await run(context(), feed);
}

async function recordView(node: string, uptime: string, startTime = start, nodeID = 'NodeID-A') {
  const feed = scriptedFeed([validators, validatorUptime], { node, subnetId });
  const member = {
    nodeID,
    startTime: startTime / 1000,
    endTime: start / 1000 + 8_640_000,
    txID: 'tx',
  };
  feed.script = () => onlyPage({ validators: [{ ...member, weight: 1, uptime, connected: true }] });
  await run(context(), feed);
}

it('the view of a validator of itself is its own, also under the former name of the node', async () => {
  await recordIdentity('former', 'NodeID-A');
  await recordIdentity('other', 'NodeID-B');
  await recordView('former', '40');
  await recordView('other', '99');
  clock.now += 60_000;
  const now = new Date(clock.now);
  await sql`
    update recorder.node_identity set valid_to = ${now}, ended_by = 'unwatched' where node = 'former'`;
  await recordIdentity('current', 'NodeID-A');
  clock.now += 60_000;
  const asOf = new Date(clock.now);
  expect([
    ...(await sql`
      select seen_by, is_own_view from reporting.validator_uptime_seen(${new Date(start)}, ${asOf}, 'NodeID-A', as_of => ${asOf})`),
  ]).toEqual([
    { seen_by: 'former', is_own_view: true },
    { seen_by: 'other', is_own_view: false },
  ]);
  expect([
    ...(await sql`
      select node, uptime::int, uptime_seen_by from reporting.my_validators('NodeID-A', as_of => ${asOf})`),
  ]).toEqual([{ node: 'current', uptime: 99, uptime_seen_by: 'other' }]);
});

it('the view of an earlier validation is no view of the current one', async () => {
  await recordIdentity('restaked', 'NodeID-C');
  await recordView('stopped', '40', start, 'NodeID-C');
  clock.now += 3_600_000;
  await recordView('running', '99', clock.now - 60_000, 'NodeID-C');
  clock.now += 60_000;
  expect([
    ...(await sql`
      select uptime::int, uptime_seen_by, downtime_left_minutes > 0 as is_enough
      from reporting.my_validators('NodeID-C', as_of => ${new Date(clock.now)})`),
  ]).toEqual([{ uptime: 99, uptime_seen_by: 'running', is_enough: true }]);
});
