import { expect } from 'vitest';
import { averageTps } from '../../../src/datasets/metrics/average-tps.ts';
import { metricPoints } from '../../../src/datasets/metrics/metric-points.ts';
import { nodeIdentity } from '../../../src/datasets/node/node-identity.ts';
import { nodeReportedUptime } from '../../../src/datasets/node/node-reported-uptime.ts';
import { validatorUptime } from '../../../src/datasets/node/validator-uptime.ts';
import { validators } from '../../../src/datasets/node/validators.ts';
import type { NodeState } from '../../../src/health/state.ts';
import { reports } from '../../../src/reporting/reports/saved-queries.ts';
import { selectNode, slaReport } from '../../../src/reporting/reports/sla.ts';
import { slaPage } from '../../../src/reporting/reports/sla-page.ts';
import { readUptime, requireSettled } from '../../../src/reporting/reports/uptime.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { recordTransitions, transitionOf } from '../../support/ledger.ts';
import { datasetDigests, reportedAsOf } from '../../support/saved-queries.ts';
import { onlyPage, recordingContext, run, scriptedFeed } from '../../support/scripted-feed.ts';

const hour = 3_600_000;
const day = 24 * hour;
const start = Date.UTC(2026, 0, 1);
const PRIMARY = '11111111111111111111111111111111LpoYY';
const MEMBERS = 1_000;

const { it, database, sql } = withDatabase({ max: 3 });

const clock = new ManualClock(start);
const context = () => recordingContext(sql, clock.read);
const lists = {
  points: scriptedFeed(metricPoints, { chainId: '43114', metric: 'txCount', timeInterval: 'day' }),
  rates: scriptedFeed(averageTps, { chainId: '43114' }),
  members: scriptedFeed([validators, validatorUptime], { node: 'one', subnetId: PRIMARY }),
  // Rewards of other subnets have requirements of their own.
  subnet: scriptedFeed([validators, validatorUptime], { node: 'one', subnetId: 'permissioned' }),
  identity: scriptedFeed(nodeIdentity, { node: 'one' }),
  uptime: scriptedFeed(nodeReportedUptime, { node: 'one', subnetId: PRIMARY }),
};

/** One poll of everything, whose every point and member differs from that of every other round. */
async function poll(round: number) {
  const results = Array.from({ length: MEMBERS }, (_, at) => ({
    timestamp: start / 1000 - at * 86_400,
    value: round * MEMBERS + at,
  }));
  lists.points.script = () => onlyPage({ results });
  lists.rates.script = () => onlyPage({ results });
  // Some join and leave; the others change.
  const listed = Array.from({ length: MEMBERS }, (_, at) => at)
    .filter((at) => (at + round) % 10 !== 0)
    .map((at) => ({
      nodeID: `NodeID-${at}`,
      startTime: start / 1000 - 86_400,
      endTime: start / 1000 + 30 * 86_400,
      txID: `tx-${at}`,
      weight: 1000 + round,
      uptime: String(90 + round / 100),
      connected: true,
    }));
  lists.members.script = () => onlyPage({ validators: listed });
  lists.subnet.script = () => onlyPage({ validators: listed.filter(({ nodeID }) => nodeID === 'NodeID-11') });
  lists.identity.script = () =>
    onlyPage({ ...nodeIdentity.example, nodeID: `NodeID-${11 + (round > 3 ? 10 : 0)}` });
  lists.uptime.script = () =>
    onlyPage({ ...nodeReportedUptime.example, rewardingStakePercentage: String(90 + round / 100) });
  let rowsWritten = 0;
  for (const list of Object.values(lists))
    for (const rows of (await run(context(), list)).rowsWritten) rowsWritten += rows;
  clock.now += 6 * hour;
  return rowsWritten;
}

/** Inserts the states of a node that an observer recorded since the last round. */
const recordStates = (
  observer: string,
  node: string,
  until: number,
  transitions: readonly (readonly [at: number, state: NodeState, check?: string])[],
) =>
  recordTransitions(
    sql,
    observer,
    until,
    transitions.map(([at, state, check = '*'], before) =>
      transitionOf(node, at, state, { check, before, error: state === 'down' ? `down at ${at}` : null }),
    ),
  );

it('returns the same bytes from every report before and after 10,000 later revisions and list changes', async () => {
  const moment = new Date(start + 4 * day);
  for (const round of [1, 2, 3]) await poll(round);
  // Down at the moment, and up again by one observer for less time than ends an incident.
  await recordStates('paris', 'one', moment.getTime() + hour, [
    [start, 'up'],
    [start + day, 'down'],
    [start + day + hour, 'up'],
    [moment.getTime() - hour, 'down'],
    [moment.getTime() - hour, 'down', 'disk'],
    [moment.getTime() - 60_000, 'unknown'],
  ]);
  clock.now = moment.getTime() + hour;
  const thresholds = { minUptime: 80, minUptimeAfterUpgrade: 80 };
  const window = { from: start, to: moment.getTime() };
  const readReports = async () => {
    await requireSettled(sql, moment.toISOString());
    const sla = await slaReport(
      sql,
      { from: start, to: Date.UTC(2026, 1, 1) },
      moment.getTime(),
      99.9,
      thresholds,
      moment.toISOString(),
    );
    return {
      ...(await reportedAsOf(database.url, moment, new Date(start), {
        chain_id: '43114',
        metric: 'txCount',
      })),
      ...(await datasetDigests(sql, moment)),
      uptime: JSON.stringify(await readUptime(sql, window, null, moment.toISOString())),
      sla: JSON.stringify(sla),
      page: slaPage(sla),
    };
  };
  const before = await readReports();
  const withAsOf = reports().filter(({ notAsOf }) => notAsOf === null);
  expect(Object.keys(before)).toEqual(expect.arrayContaining(withAsOf.map(({ name }) => name)));

  let rowsWritten = 0;
  for (let round = 4; rowsWritten < 20_000; round++) rowsWritten += await poll(round);
  await recordStates('paris', 'one', clock.now, [
    [moment.getTime() + 2 * hour, 'down'],
    [moment.getTime() + 2 * hour, 'down', 'network'],
    [moment.getTime() + 4 * hour, 'up'],
  ]);
  await recordStates('oslo', 'one', clock.now, [[moment.getTime() + 3 * hour, 'down']]);
  await recordStates('oslo', 'another', clock.now, [[moment.getTime() + 3 * hour, 'up']]);
  const [later] = await sql<{ revisions: number; changes: number }[]>`
    select (select count(*)::int from reporting.metric_points_history where valid_from > ${moment}) as revisions,
      (select count(*)::int from reporting.node_validators_changes where at > ${moment}) as changes`;
  expect((later?.revisions ?? 0) + (later?.changes ?? 0)).toBeGreaterThan(10_000);

  const after = await readReports();
  expect(Object.keys(after)).toEqual(Object.keys(before));
  for (const [name, output] of Object.entries(before))
    expect(after[name as keyof typeof after], name).toBe(output);

  // There are comparisons, and the results differ from the current ones.
  expect(Object.values(before).filter((output) => /^\d+ /.test(output))).toHaveLength(6);
  expect(Object.values(before).filter((output) => output.split('\r\n').length > 2).length).toBeGreaterThan(5);
  expect(JSON.parse(before.sla)).toMatchObject({
    nodes: [
      {
        observers: 1,
        incidents: [
          { ended_at: new Date(start + day + hour).toISOString() },
          { ended_at: new Date(moment.getTime() - 60_000).toISOString(), failed_checks: ['disk'] },
        ],
      },
    ],
    validations: [{ node_id: 'NodeID-11' }],
    stake: [{ rewarding_stake_percentage: 90.03 }],
  });
  const now = await slaReport(sql, { from: start, to: Date.UTC(2026, 1, 1) }, clock.now, 99.9, thresholds);
  expect(JSON.stringify(now.nodes)).not.toBe(JSON.stringify(JSON.parse(before.sla).nodes));

  // The report of a month that has ended contains the last observations of that month.
  const ended = await slaReport(sql, { from: start, to: moment.getTime() }, clock.now, 99.9, thresholds);
  const { validations, stake } = JSON.parse(before.sla);
  expect(JSON.parse(JSON.stringify({ ...ended }))).toMatchObject({ validations, stake });
  const nextMonth = { from: clock.now + 1, to: clock.now + day };
  const unobserved = await slaReport(sql, nextMonth, clock.now + hour, 99.9, thresholds);
  expect(unobserved, 'earlier observations').toMatchObject({ validations: [], stake: [] });
  expect(selectNode(ended, 'another')).toMatchObject({ nodes: [], validations: [], stake: [] });
  expect(selectNode(ended, 'one')).toEqual(ended);
});

it('refuses a moment that is not settled, or lies before the first probe, and names the nearest valid one', async () => {
  // An observer counts as long as its lease, by the database's clock.
  await recordStates('paris', 'one', clock.now, []);
  await expect(requireSettled(sql, new Date(start - 1).toISOString())).rejects.toThrow(
    'watched since 2026-01-01T00:00:00.000Z',
  );
  await expect(requireSettled(sql, new Date(clock.now + 1).toISOString())).rejects.toThrow(
    `settled until ${new Date(clock.now).toISOString()}`,
  );
});
