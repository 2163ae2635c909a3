import { expect } from 'vitest';
import { validators } from '../../../src/datasets/node/validators.ts';
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
