import fc from 'fast-check';
import type postgres from 'postgres';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { peerReadings } from '../../../src/datasets/node/peer-readings.ts';
import { validatorUptime } from '../../../src/datasets/node/validator-uptime.ts';
import { openSealConnection } from '../../../src/db/client.ts';
import { closeDays } from '../../../src/recording/close-days.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import {
  onlyPage,
  recordingContext,
  run,
  type ScriptedFeed,
  scriptedFeed,
} from '../../support/scripted-feed.ts';

const { it, database, sql } = withDatabase();
let sealing: postgres.Sql;
const START = Date.UTC(2026, 0, 10);
const MINUTE = 60_000;

beforeAll(async () => {
  sealing = openSealConnection(database.url, 60_000);
});
afterAll(async () => {
  await Promise.all([sql.end(), sealing.end()]);
});

let subnets = 0;
function createFeed(): { readonly feed: ScriptedFeed; readonly subnet: string } {
  subnets += 1;
  const subnet = `subnet-${subnets}`;
  return { feed: scriptedFeed(validatorUptime, { node: 'n', subnetId: subnet }), subnet };
}

/** The reading of one validator: `[member, uptime]`. */
type Reading = readonly [number, string | null];

async function poll(feed: ScriptedFeed, at: number, readings: readonly Reading[]): Promise<void> {
  const context = recordingContext(sql, new ManualClock(at).read);
  feed.script = () =>
    onlyPage({
      validators: readings.map(([member, uptime]) => ({
        nodeID: `NodeID-${member}`,
        ...(uptime === null ? {} : { uptime }),
        connected: member % 3 > 0,
      })),
    });
  expect(await run(context, feed)).toMatchObject({ status: 'done', quarantined: 0 });
}

async function selectReadings(subnet: string): Promise<Map<number, Reading[]>> {
  const rows = await sql<{ at: number; member: number; uptime: string | null; connected: boolean }[]>`
    select (extract(epoch from observed_at) * 1000)::float8 as at, substring(node_id from 8)::int as member, uptime, connected
    from reporting.validator_uptime where subnet_id = ${subnet} order by 1, 2`;
  const readingsByTime = new Map<number, Reading[]>();
  for (const { at, member, uptime, connected } of rows) {
    expect(connected).toBe(member % 3 > 0);
    readingsByTime.set(at, [...(readingsByTime.get(at) ?? []), [member, uptime]]);
  }
  return readingsByTime;
}

const selectBitLengths = async (subnet: string) => {
  const rows = await sql<{ bits: number }[]>`
    select length(l.bits) as bits from recorder.reading_open l join recorder.reading_scopes s using (scope_id)
    where s.request = array['n', ${subnet}] order by observed_at`;
  return rows.map((row) => row.bits);
};

describe('a poll of an open day', () => {
  it('has a place for each member that it read, whatever members existed before', async () => {
    const { feed, subnet } = createFeed();
    const expected = new Map<number, Reading[]>();
    for (let round = 0; round < 30; round++) {
      // One of fifty members stays; all others are new at every poll.
      const members = [0, ...Array.from({ length: 49 }, (_, n) => 1 + round * 49 + n)];
      const readings = members.map((member): Reading => [member, (90 + (member % 50) / 10).toFixed(1)]);
      expected.set(START + round * MINUTE, readings);
      await poll(feed, START + round * MINUTE, readings);
    }
    expect(await selectReadings(subnet)).toEqual(expected);
    const [first = 0, ...others] = await selectBitLengths(subnet);
    expect(first).toBeGreaterThan(0);
    expect(Math.max(...others)).toBeLessThanOrEqual(first);
  });

  it('returns the recorded readings for any members, before its day is closed and after', async () => {
    const uptime = fc.oneof(
      fc.integer({ min: 0, max: 1000 }).map((one) => (one / 10).toFixed(1)),
      fc.constant(null),
    );
    const members = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 60 }), uptime), {
      selector: ([member]) => member,
      minLength: 1,
      maxLength: 25,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(members, { minLength: 1, maxLength: 6 }), async (polls) => {
        const { feed, subnet } = createFeed();
        const expected = new Map<number, Reading[]>();
        for (const [round, readings] of polls.entries()) {
          const at = START + round * MINUTE;
          expected.set(
            at,
            [...readings].sort(([a], [b]) => a - b),
          );
          await poll(feed, at, readings);
        }
        expect(await selectReadings(subnet)).toEqual(expected);
        await closeDays(sealing, START + 40 * 24 * 60 * MINUTE, new AbortController().signal);
        expect(await selectBitLengths(subnet)).toEqual([]);
        expect(await selectReadings(subnet)).toEqual(expected);
      }),
      { numRuns: 15 },
    );
  });

  it('returns instants of any year to the microsecond, before its day is closed and after', async () => {
    const feed = scriptedFeed(peerReadings, { node: 'instants' });
    const instants = [
      '0001-01-02T00:00:00.000001Z',
      '1600-01-01T00:00:00.000003Z',
      '1969-12-31T23:59:59.999999Z',
      '2026-01-09T23:59:59.123456Z',
      '2254-12-31T23:59:59.999999Z',
      '2255-07-01T00:00:00.000001Z',
      '2300-01-01T00:00:00.000001Z',
      '2300-01-01T00:00:01.000000Z',
      '9999-12-30T23:59:59.999999Z',
    ];
    const countPackedPolls = async () => {
      const [row] = await sql<{ polls: number }[]>`
        select count(*)::int as polls from recorder.reading_open l join recorder.reading_scopes s using (scope_id)
        where s.request = array['instants']`;
      return row?.polls;
    };
    for (const [round, lastSent] of instants.entries()) {
      const peers = [
        { nodeID: 'NodeID-1', lastSent, lastReceived: '2026-01-10T00:00:00Z', observedUptime: '99' },
        { nodeID: 'NodeID-2', lastSent: '2300-01-01T00:00:00Z', observedUptime: '98' },
      ];
      feed.script = () => onlyPage({ numPeers: '2', peers });
      const context = recordingContext(sql, new ManualClock(START + round * MINUTE).read);
      expect(await run(context, feed)).toMatchObject({ status: 'done', quarantined: 0 });
    }
    const selectSentTimes = async (peer: string) => {
      const rows = await sql<{ sent: string }[]>`
        select to_char(last_sent at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as sent
        from reporting.peer_readings where node = 'instants' and node_id = ${peer} order by observed_at`;
      return rows.map(({ sent }) => sent);
    };
    const expectAllInstants = async () => {
      expect(await selectSentTimes('NodeID-1')).toEqual(instants);
      expect(await selectSentTimes('NodeID-2')).toEqual(instants.map(() => '2300-01-01T00:00:00.000000Z'));
    };
    await expectAllInstants();
    // Moments with close values, and whole seconds of any year.
    expect(await countPackedPolls()).toBe(4);
    const { failed } = await closeDays(sealing, START + 40 * 24 * 60 * MINUTE, new AbortController().signal);
    expect(failed).toEqual([]);
    await expectAllInstants();
  });
});
