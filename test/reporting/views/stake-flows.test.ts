import { expect } from 'vitest';
import { validators } from '../../../src/datasets/node/validators.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../../support/scripted-feed.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const start = Date.UTC(2026, 0, 10);
const { it, sql } = withDatabase();

it('returns flows of days with polls: none before the record, and none while no list was watched or no recorder ran', async () => {
  const clock = new ManualClock(start);
  const primary = { node: 'n', subnetId: '11111111111111111111111111111111LpoYY' };
  const feed = scriptedFeed(validators, primary, { confirmShrink: { observations: 1, minDuration: 0 } });
  const poll = async (at: number, weights: Readonly<Record<string, number>>) => {
    clock.now = start + at;
    const listed = Object.entries(weights).map(([nodeID, weight]) => ({ nodeID, startTime: 1, weight }));
    feed.script = () => onlyPage({ validators: listed });
    await run(recordingContext(sql, clock.read), feed);
  };
  await poll(3 * DAY + 6 * HOUR, { a: 5 });
  await poll(4 * DAY, { a: 5, b: 7 });
  await sql`
    update recorder.validators set valid_to = ${new Date(start + 5 * DAY + 12 * HOUR)}, ended_by = 'unwatched' where valid_to is null`;
  // How much stake came and went in the unwatched time is unknown.
  await poll(8 * DAY, { a: 5, b: 9, c: 4 });
  await poll(8 * DAY + HOUR, { a: 5, b: 10, c: 4 });
  const flows = async (from: number, to: number, asOf = 20 * DAY) => {
    const rows = await sql<{ at: number; stake_in: number }[]>`
      select day - ${new Date(start)}::date as at, stake_in::int
      from reporting.stake_flows(${new Date(start + from)}, ${new Date(start + to)}, as_of => ${new Date(start + asOf)})`;
    return rows.map(({ at, stake_in }) => [at, stake_in]);
  };
  expect(await flows(0, 10 * DAY)).toEqual([
    [3, 0],
    [4, 7],
    [8, 1],
  ]);
  expect(await flows(5 * DAY + 13 * HOUR, 8 * DAY)).toEqual([]);
  expect(await flows(0, 10 * DAY, 4 * DAY + HOUR)).toEqual([
    [3, 0],
    [4, 7],
  ]);
  expect(await flows(0, 3 * DAY)).toEqual([]);
  expect(await flows(4 * DAY + HOUR, 4 * DAY)).toEqual([]);
  expect(await flows(4 * DAY + 2 * HOUR, 5 * DAY, 4 * DAY + HOUR)).toEqual([]);
});
