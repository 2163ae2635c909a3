import { expect } from 'vitest';
import { nodeHealth } from '../../src/health/node-health.ts';
import { DEFAULT_SHRINK_CONFIRMATION } from '../../src/recording/active-feed.ts';
import { registerTargets } from '../../src/recording/register.ts';
import { withDatabase } from '../support/fixture.ts';
import { absence, recordTransitions, transitionOf } from '../support/ledger.ts';

const START = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;
const at = (hour: number) => new Date(START + hour * HOUR);
const probe = { node: 'one', probe: 'health' };

const { it, sql } = withDatabase({ max: 1 });

type StateChange = readonly [hour: number, check: string, state: 'up' | 'down'];

/** The states that an observer recorded until an hour; it was off in the hours between. */
async function recordStates(
  until: number,
  changes: readonly StateChange[],
  absences: readonly [number, number][] = [],
) {
  const transitions = changes.map(([hour, check, state]) =>
    transitionOf('one', START + hour * HOUR, state, {
      check,
      error: state === 'down' ? `down since ${hour}` : null,
      message: state === 'down' ? JSON.stringify({ hour }) : null,
      failingSince: state === 'down' ? at(hour - 1).toISOString() : null,
    }),
  );
  await recordTransitions(sql, 'paris', START + until * HOUR, transitions, {
    absences: absences.map(([from, to]) => absence(START + from * HOUR, START + to * HOUR)),
    probe: { latest: JSON.stringify({ disk: { error: 'with another message', failures: 7 } }) },
  });
}

interface HealthRow {
  readonly check_name: string;
  readonly state: string;
  readonly error: string | null;
  readonly since: Date;
  readonly observed_at: Date;
}

const selectHealthAsOf = async (hour: number) => [
  ...(await sql<HealthRow[]>`
    select * from reporting.node_health_as_of(${at(hour)}) order by check_name`),
];

it('the health of nodes as of a moment equals the ledger at that moment, whatever followed', async () => {
  await expect(selectHealthAsOf(0)).rejects.toMatchObject({
    message: 'there is no record of node_health yet',
  });
  const dataset = { ...nodeHealth, every: 60_000, since: null, confirmShrink: DEFAULT_SHRINK_CONFIRMATION };
  await registerTargets(
    sql,
    {
      source: nodeHealth.source,
      datasets: [dataset],
      targets: [{ observer: 'paris', ...probe }],
      every: 60_000,
    },
    START,
  );
  await recordStates(
    6,
    [
      [0, '*', 'up'],
      [1, '*', 'down'],
      [1, 'disk', 'down'],
      [2, '*', 'up'],
      [2, 'disk', 'up'],
    ],
    [[3, 5]],
  );
  await expect(selectHealthAsOf(-1)).rejects.toMatchObject({
    message: 'there is no record of node_health at 2025-12-31T23:00:00Z',
    hint: 'recorded since 2026-01-01T00:00:00.000000Z',
  });
  const up = { state: 'up', error: null };
  expect(await selectHealthAsOf(0)).toMatchObject([{ ...up, since: at(0), observed_at: at(0) }]);
  expect(await selectHealthAsOf(0.5)).toMatchObject([{ ...up, since: at(0), observed_at: at(0.5) }]);
  const down = { observer: 'paris', ...probe, state: 'down', since: at(1), observed_at: at(1.5) };
  const errors = { error: 'down since 1', message: { hour: 1 }, last_error: 'down since 1' };
  const version_id = expect.stringMatching(/^[0-9a-f-]{36}$/);
  const failure = { ...errors, last_message: { hour: 1 }, failing_since: at(0), failures: null, version_id };
  const earlierRows = await selectHealthAsOf(1.5);
  expect(earlierRows).toEqual([
    { ...down, ...failure, check_name: '*' },
    { ...down, ...failure, check_name: 'disk' },
  ]);
  // No observer probed; and after the last probe the state is unknown.
  expect(await selectHealthAsOf(4)).toMatchObject([{ ...up, since: at(2), observed_at: at(3) }, up]);
  expect(await selectHealthAsOf(5)).toMatchObject([{ ...up, since: at(2), observed_at: at(5) }, up]);
  expect(await selectHealthAsOf(9)).toMatchObject([{ ...up, since: at(2), observed_at: at(6) }, up]);

  const [duringAbsence, afterAbsence] = [await selectHealthAsOf(4), await selectHealthAsOf(5.5)];
  await recordStates(12, [
    [6, '*', 'down'],
    [6, 'disk', 'down'],
  ]);
  expect([await selectHealthAsOf(1.5), await selectHealthAsOf(4), await selectHealthAsOf(5.5)]).toEqual([
    earlierRows,
    duringAbsence,
    afterAbsence,
  ]);
  const latest = await selectHealthAsOf(99);
  const current = await sql`
    select observer, node, probe, check_name, state, error, message, since, observed_at, failing_since
    from reporting.node_health order by check_name`;
  expect(latest).toMatchObject([...current]);
  expect(latest).toMatchObject([{ error: 'down since 6' }, { last_error: 'down since 6', failures: null }]);
});
