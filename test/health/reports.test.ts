import { describe, expect } from 'vitest';
import {
  announceMaintenance,
  createMaintenanceLookup,
  endMaintenance,
  listMaintenance,
} from '../../src/health/announcements.ts';
import { storeIncidentNote } from '../../src/health/incident-notes.ts';
import type { NodeState } from '../../src/health/state.ts';
import { downtimeLeft, thresholdOf } from '../../src/reporting/reports/rewards.ts';
import { slaReport } from '../../src/reporting/reports/sla.ts';
import { slaPage } from '../../src/reporting/reports/sla-page.ts';
import {
  achievedText,
  percentText,
  readQuorumUptime,
  readUptime,
  spanText,
} from '../../src/reporting/reports/uptime.ts';
import { withDatabase } from '../support/fixture.ts';
import { absence, recordTransitions, transitionOf } from '../support/ledger.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const month = { from: Date.UTC(2026, 0, 1), to: Date.UTC(2026, 1, 1) };

const { it, sql } = withDatabase();

/**
 * Writes the states that an observer recorded of a node in the month.
 * @param states each with its hour and, if it is down, its error, such as `0 up; 10 down it does not answer`
 * @param absences in hours
 */
function recordStates(
  observer: string,
  node: string,
  states: string,
  absences: readonly (readonly [number, number])[] = [],
): Promise<void> {
  const at = (hours: number) => month.from + hours * hour;
  const transitions = states.split('; ').map((text) => {
    const [, hours, state, error] = /^([\d.]+) (up|down|unknown|maintenance)(?: (.+))?$/.exec(text) ?? [];
    if (!hours || !isState(state)) throw new Error(`no state: ${text}`);
    const more = {
      before: Number(hours) * 60,
      error: state === 'down' ? (error ?? '<script>alert(1)</script>') : null,
    };
    return transitionOf(node, at(Number(hours)), state, more);
  });
  return recordTransitions(sql, observer, month.to, transitions, {
    absences: absences.map(([from, to]) => absence(at(from), at(to))),
    probe: { probes: 31 * 1440 },
  });
}

const STATES: readonly NodeState[] = ['up', 'down', 'unknown', 'maintenance'];
const isState = (text: string | undefined): text is NodeState => STATES.some((state) => state === text);

describe('several observers', () => {
  it('report a node as down if the majority of the current ones found it down, and show disagreements', async () => {
    await recordStates('paris', 'shared', '0 up; 10 down; 20 up');
    await recordStates('oslo', 'shared', '0 up; 12 down; 18 up');
    await recordStates('rome', 'shared', '0 up; 30 unknown; 40 up');
    const [row] = await readQuorumUptime(sql, { from: month.from, to: month.from + 2 * day }, 'shared');
    expect(row).toMatchObject({
      observers: 3,
      up_seconds: 42 * 3600,
      down_seconds: 6 * 3600,
      unknown_seconds: 0,
      disagreement_seconds: 10 * 3600,
      uptime: 0.875,
    });
    const incidents = await sql`select * from reporting.node_incidents where node = 'shared'`;
    expect(incidents).toMatchObject([
      {
        noticed_by: ['oslo', 'paris'],
        first_noticed_by: 'paris',
        is_open: false,
        duration_seconds: '36000.000000',
      },
    ]);
  });

  it('that see a node flap while another one sees it down count all their transitions', async () => {
    await recordStates('paris', 'bridged', '0 up; 10 down; 12 up; 14 down; 16 up');
    await recordStates('oslo', 'bridged', '0 up; 11 down; 14.5 up');
    expect(
      await sql`select outages::int, down_seconds::int, duration_seconds::int from reporting.node_incidents where node = 'bridged'`,
    ).toEqual([{ outages: 2, down_seconds: 4 * 3600, duration_seconds: 6 * 3600 }]);
  });

  it('are counted up to the time that all current ones have settled, and a stopped one delays nothing', async () => {
    const at = (seconds: number) => month.from + seconds * 1000;
    const recordUntil = (
      observer: string,
      heartbeat: number,
      transitions: readonly (readonly [number, NodeState])[],
    ) =>
      recordTransitions(
        sql,
        observer,
        heartbeat,
        transitions.map(([seconds, state], before) =>
          transitionOf('settling', at(seconds), state, { before }),
        ),
        { probe: { node: 'settling' } },
      );
    const states = () => sql`
      select state, extract(epoch from started_at)::float8 - ${month.from / 1000} as from,
        extract(epoch from ended_at)::float8 - ${month.from / 1000} as to
      from reporting_internal.node_quorum_states where node = 'settling' order by started_at`;
    // One observer saw it fail, of which the other has not settled anything yet.
    await recordUntil('ahead', at(100.5), [
      [0, 'up'],
      [100, 'down'],
    ]);
    await recordUntil('behind', at(100), [[0, 'up']]);
    expect(await states()).toEqual([{ state: 'up', from: 0, to: 100 }]);
    const [quorum] = await readQuorumUptime(sql, { from: at(0), to: at(100.5) }, 'settling');
    expect(quorum).toMatchObject({ up_seconds: 100, down_seconds: 0, unknown_seconds: 0.5 });
    // Both saw it: settled as far as the slower one.
    await recordUntil('behind', at(101), [[100, 'down']]);
    expect(await states()).toEqual([
      { state: 'up', from: 0, to: 100 },
      { state: 'down', from: 100, to: 100.5 },
    ]);
    const [later] = await readQuorumUptime(sql, { from: at(100.75), to: at(101) }, 'settling');
    expect(later).toMatchObject({ up_seconds: 0, maintenance_seconds: 0, unknown_seconds: 0.25 });
    // The slower one stops: after its heartbeat it counts as an observer without probes.
    await sql`update recorder.health_observers set lease_until = now() - interval '1 hour' where observer = 'behind'`;
    await recordUntil('ahead', at(900), []);
    expect((await states()).at(-1)).toEqual({ state: 'down', from: 101, to: 900 });
    // Or it runs on, with a delay.
    await sql`update recorder.health_observers set lease_until = now() + interval '1 hour' where observer = 'behind'`;
    expect((await states()).at(-1)).toEqual({ state: 'down', from: 101, to: 900 });
  });

  it('are distinguished', async () => {
    const rows = await readUptime(sql, { from: month.from, to: month.from + day }, 'shared');
    expect(rows.map(({ observer, down_seconds }) => [observer, down_seconds / 3600])).toEqual([
      ['oslo', 6],
      ['paris', 10],
      ['rome', 0],
    ]);
  });
});

describe('uptime by calendar', () => {
  it('sums to each day and month', async () => {
    await recordStates('lima', 'calendar', '5 up; 30 maintenance; 32 up; 71 down; 73 up', [[50, 52]]);
    const days = await sql`
      select day::text, up_seconds::int, down_seconds::int, unknown_seconds::int, maintenance_seconds::int
      from reporting.node_uptime_by_day where node = 'calendar' order by day limit 4`;
    expect(
      days.map((row) =>
        Object.values(row).map((value) => (typeof value === 'number' ? value / 3600 : value)),
      ),
    ).toEqual([
      ['2026-01-01', 19, 0, 0, 0],
      ['2026-01-02', 22, 0, 0, 2],
      ['2026-01-03', 21, 1, 2, 0],
      ['2026-01-04', 23, 1, 0, 0],
    ]);
    const [first] = await sql`
      select month::text, down_seconds::int, (up_seconds + down_seconds + unknown_seconds + maintenance_seconds)::int as total_seconds
      from reporting_internal.node_uptime_by_month where node = 'calendar' order by month limit 1`;
    expect(first).toEqual({ month: '2026-01-01', down_seconds: 7200, total_seconds: (31 * 24 - 5) * 3600 });
  });
});

describe('uptime by windows of any length', () => {
  const begin = Date.UTC(2026, 0, 1, 5, 30);
  const end = Date.UTC(2026, 0, 29, 17);
  const monday = Date.UTC(2000, 0, 3);
  const steps = (length: number) => {
    const first = monday + Math.floor((begin - monday) / length) * length;
    return Array.from({ length: Math.ceil((end - first) / length) }, (_, at) => first + at * length);
  };
  const grains: readonly (readonly [grain: string, begins: readonly number[]])[] = [
    ['1 hour', steps(hour)],
    ['7 hours', steps(7 * hour)],
    ['1 day', steps(day)],
    ['1 week', steps(7 * day)],
    ['1 month', [begin]],
    ['3 months', [begin]],
  ];

  it.each(grains)(
    'of %s: windows lie side by side, and each counts as a window of its own does',
    async (grain, begins) => {
      const node = `by ${grain}`;
      await recordStates('by', node, '2 up; 30 down; 31.5 up; 200 maintenance; 260 up', [[100, 130]]);
      const rows = await sql<{ begins: Date; ends: Date; same: boolean }[]>`
      select b.begins, b.ends, (select (b.up_seconds, b.down_seconds, b.unknown_seconds, b.maintenance_seconds, b.uptime,
          b.uptime_lower, b.uptime_upper, b.coverage) is not distinct from (u.up_seconds, u.down_seconds, u.unknown_seconds,
          u.maintenance_seconds, u.uptime, u.uptime_lower, u.uptime_upper, u.coverage)
        from reporting.node_uptime(b.begins, b.ends) u where u.node = b.node) as same
      from reporting.node_uptime_by(${grain}::interval, ${new Date(begin)}, ${new Date(end)}) b
      where b.node = ${node} order by b.begins`;
      expect(rows.map((row) => row.begins.getTime())).toEqual(begins.map((at) => Math.max(at, begin)));
      expect(rows.map((row) => row.ends.getTime())).toEqual([
        ...rows.slice(1).map((row) => row.begins.getTime()),
        end,
      ]);
      expect(rows.filter(({ same }) => !same)).toEqual([]);
      const [sum] = await sql`
      select sum(b.up_seconds)::int as up, sum(b.down_seconds)::int as down, sum(b.maintenance_seconds)::int as maintenance
      from reporting.node_uptime_by(${grain}::interval, ${new Date(begin)}, ${new Date(end)}) b where b.node = ${node}`;
      const seconds = (end - begin) / 1000;
      const maintenance = 60 * 3600;
      const down = 1.5 * 3600;
      expect(sum).toEqual({ up: seconds - maintenance - down - 30 * 3600, down, maintenance });
    },
  );

  it('of one window: it is a single row, whatever its length', async () => {
    await recordStates('ages', 'through the ages', '0 up; 300 down');
    const rows = await sql`
      select up_seconds::int as up, down_seconds::int as down, begins = ${new Date(month.from)} and ends <= now() as watched
      from reporting.node_uptime_by(null, '0001-01-01Z', '9999-12-31Z') where node = 'through the ages'`;
    expect(rows).toEqual([{ up: 300 * 3600, down: expect.any(Number), watched: true }]);
  });

  it.each(['30 days', '45 days', '5 months', '18 months', '2 years'])(
    'of %s: windows of any length follow each other across the years',
    async (grain) => {
      const node = `across by ${grain}`;
      await recordStates('across', node, '0 up; 300 down');
      const [from, to] = [new Date(Date.UTC(2025, 10, 20)), new Date(month.to)];
      const [sum] = await sql`
        select sum(up_seconds)::int as up, sum(down_seconds)::int as down from reporting.node_uptime_by(${grain}::interval, ${from}, ${to})
        where node = ${node}`;
      expect(sum).toEqual({ up: 300 * 3600, down: (31 * 24 - 300) * 3600 });
      const violations = await sql`
        select t.at, w.begins, n.ends from generate_series(timestamptz '1995-01-01', '2031-01-01', '17 days') as t(at)
        cross join lateral (select reporting_internal.window_begin(${grain}::interval, t.at) as begins) w
        cross join lateral (select (w.begins at time zone 'UTC' + ${grain}::interval) at time zone 'UTC' as ends) n
        where t.at < w.begins or t.at >= n.ends or reporting_internal.window_begin(${grain}::interval, n.ends) <> n.ends
          or reporting_internal.window_begin(${grain}::interval, n.ends - interval '1 microsecond') <> w.begins`;
      expect([...violations]).toEqual([]);
    },
  );

  it.each(['1 month 3 days', '-1 month', '0 seconds', '-1 day'])('of %s is refused', async (grain) => {
    await expect(sql`select * from reporting.node_uptime_by(${grain}::interval)`).rejects.toMatchObject({
      code: '22023',
      message: expect.stringMatching(
        /^grain: must be whole months, or a positive duration of days or less, not /,
      ),
    });
  });

  it('starts at the first observation of the probe, and whole months from January 2000', async () => {
    await recordStates('by', 'since', '30 up');
    const first = (grain: string) => sql`
      select begins from reporting.node_uptime_by(${grain}::interval) where node = 'since' order by begins limit 1`;
    const expected = [{ begins: new Date(Date.UTC(2026, 0, 2, 6)) }];
    expect(await first('1 day')).toEqual(expected);
    expect(await first('6 months')).toEqual(expected);
    const starts = await sql<{ at: Date }[]>`
      select reporting_internal.window_begin('3 months', '2026-08-15') as at
      union all select reporting_internal.window_begin('1 year', '2026-08-15') union all select reporting_internal.window_begin('1 week', '2026-08-15')`;
    expect(starts.map(({ at }) => at.toISOString().slice(0, 10))).toEqual([
      '2026-07-01',
      '2026-01-01',
      '2026-08-10',
    ]);
  });
});

describe('a node', () => {
  it('has one row: its current state by majority, and the uptime of each probe by day and month', async () => {
    await recordStates('bern', 'whole', '0 up; 12 down');
    await recordStates('genf', 'whole', '0 up');
    await recordStates('basel', 'whole', '0 down');
    const selectCurrentHealth = () =>
      sql`select * from reporting_internal.node_health_now where node = 'whole'`;
    expect(await selectCurrentHealth()).toMatchObject([
      { health: 'down', readiness: null, since: new Date(month.from), failing_checks: [], observers: '3' },
    ]);
    await sql`update recorder.health_observers set lease_until = now() - interval '1 minute' where observer = 'basel'`;
    expect(await selectCurrentHealth()).toMatchObject([{ health: 'up', error: null, observers: '2' }]);
    await sql`update recorder.health_observers set lease_until = now() - interval '1 minute' where observer <> 'basel'`;
    expect(await selectCurrentHealth()).toMatchObject([{ health: 'unknown', error: null, observers: '0' }]);
    const [first] = await sql`
      select day::text, probe, uptime, coverage from reporting.node_uptime_by_day
      where node = 'whole' and observer = 'bern' order by day limit 1`;
    expect(first).toEqual({
      day: '2026-01-01',
      probe: 'health',
      uptime: '0.500000000',
      coverage: '1.000000000',
    });
    const [january] = await sql`
      select uptime::float8 from reporting_internal.node_uptime_by_month where node = 'whole' and observer = 'bern' order by month limit 1`;
    expect(january?.uptime).toBeCloseTo(12 / 744, 8);
  });
});

describe('an outage', () => {
  it('lasts until the state changes, whatever messages the node returns meanwhile', async () => {
    await recordStates(
      'graz',
      'changing',
      '0 up; 10 down it does not answer; 11 down failing: C, P; 12 down failing: C; 13 up; 20 down it does not answer; 21 unknown; 22 down failing: C; 23 down failing: P',
    );
    const hours = (at: unknown) => (at instanceof Date ? (at.getTime() - month.from) / hour : at);
    const at = (hours: number) => new Date(month.from + hours * hour);
    const selectOutages = async (from: string, to: string) =>
      (
        await sql`
          select started_at, ended_at, seen_until, error, last_error
          from reporting_internal.node_outages_in(${from}::text::timestamptz, ${to}::text::timestamptz) where node = 'changing' order by started_at`
      ).map((row) => Object.values(row).map(hours));
    const iso = (hours: number) => at(hours).toISOString();
    const first = [10, 13, 13, 'it does not answer', 'failing: C'];
    const second = [20, 21, 21, 'it does not answer', 'it does not answer'];
    const third = [22, null, (month.to - month.from) / hour, 'failing: C', 'failing: P'];
    expect(await selectOutages('-infinity', 'infinity')).toEqual([first, second, third]);
    expect(await selectOutages(iso(12.5), 'infinity')).toEqual([first, second, third]);
    expect(await selectOutages(iso(13), 'infinity')).toEqual([second, third]);
    expect(await selectOutages('infinity', 'infinity')).toEqual([third]);
    const thirdThen = [22, null, 22.5, 'failing: C', 'failing: C'];
    expect(await selectOutages('-infinity', iso(22.5))).toEqual([first, second, thirdThen]);
    expect(await selectOutages(iso(22.5), iso(22.5))).toEqual([thirdThen]);
    expect(await selectOutages(iso(11.5), iso(11.5))).toEqual([
      [10, null, 11.5, 'it does not answer', 'failing: C, P'],
    ]);
    expect(await selectOutages('-infinity', iso(10))).toEqual([]);
    expect(
      await sql`select since, error from reporting_internal.node_health_now where node = 'changing'`,
    ).toEqual([{ since: at(22), error: 'failing: P' }]);
    expect(
      await sql`select outages::int, down_seconds::int from reporting.node_incidents_as_of(${at(23)}) where node = 'changing'`,
    ).toEqual([
      { outages: 1, down_seconds: 3 * 3600 },
      { outages: 2, down_seconds: 2 * 3600 },
    ]);
  });
});

describe('an incident during which no observer probed for hours', () => {
  const at = (hours: number) => new Date(month.from + hours * hour);
  const selectIncidents = (node: string, moment: Date) => sql`
    select started_at, ended_at, outages::int, down_seconds::int, unknown_seconds::int
    from reporting.node_incidents_as_of(${moment}) where node = ${node} order by started_at`;

  it('lasts until the first probe that found it up, and was down and unknown as its uptime counts', async () => {
    await recordStates('vaduz', 'unseen for hours', '0 up; 10 down; 18.5 up', [[10.1, 18.1]]);
    const [uptime] = await readUptime(
      sql,
      { from: month.from + 10 * hour, to: month.from + 18.5 * hour },
      'unseen for hours',
    );
    expect(uptime).toMatchObject({ down_seconds: 1800, unknown_seconds: 8 * 3600 });
    const [incident] = await sql`select * from reporting.node_incidents where node = 'unseen for hours'`;
    expect(incident).toMatchObject({ down_seconds: '1800.000000', duration_seconds: '30600.000000' });
    expect(await selectIncidents('unseen for hours', at(24))).toEqual([
      { started_at: at(10), ended_at: at(18.5), outages: 1, down_seconds: 1800, unknown_seconds: 8 * 3600 },
    ]);
    expect(await selectIncidents('unseen for hours', at(14.1))).toEqual([
      { started_at: at(10), ended_at: null, outages: 1, down_seconds: 360, unknown_seconds: 4 * 3600 },
    ]);
    const sla = await slaReport(sql, month, month.to + day, 99, { minUptime: 80, minUptimeAfterUpgrade: 90 });
    expect(slaPage(sla)).toContain('8 h 30 min, unobserved for 8 h');
    // Another observer probed meanwhile: the state was known throughout.
    await recordStates('valletta', 'unseen for hours', '0 up');
    expect(await selectIncidents('unseen for hours', at(24))).toMatchObject([
      { down_seconds: 1800, unknown_seconds: 0 },
    ]);
  });

  it('continues if the node was up for less than 5 minutes, however long no observer probed then', async () => {
    const recordWithRecovery = (minutesUp: number) =>
      recordStates('skopje', 'up for moments', '0 up; 10 down; 11 up; 20 down; 21 up', [
        [11 + minutesUp / 60, 20],
      ]);
    await recordWithRecovery(5);
    expect(await selectIncidents('up for moments', at(24))).toMatchObject([{ outages: 1 }, { outages: 1 }]);
    await recordWithRecovery(4);
    expect(await selectIncidents('up for moments', at(24))).toEqual([
      {
        ...{ started_at: at(10), ended_at: at(21), outages: 2, down_seconds: 7200 },
        unknown_seconds: (8 * 60 + 56) * 60,
      },
    ]);
  });
});

describe('the report of a month', () => {
  const thresholds = { minUptime: 80, minUptimeAfterUpgrade: 90, upgradeAt: Date.UTC(2026, 5, 1) };
  const reportNode = async (node: string, now: number, target: number) =>
    (await slaReport(sql, month, now, target, thresholds)).nodes.find((one) => one.node === node);

  it('has the achieved and the promised uptime, with the remaining budget', async () => {
    await recordStates('kiel', 'promised', '0 up; 100 down; 101 up');
    const report = await reportNode('promised', month.to + day, 99);
    expect(report).toMatchObject({
      verdict: 'met',
      budget_seconds: expect.closeTo(26_784),
      budget_left_seconds: expect.closeTo(23_184),
    });
    expect(report?.incidents).toHaveLength(1);
    expect(await reportNode('promised', month.to + day, 99.9)).toMatchObject({ verdict: 'missed' });
    expect(await reportNode('promised', month.to - day, 99)).toMatchObject({ verdict: 'open' });
  });

  it('is met if the downtime is exactly the budget', async () => {
    await recordStates('oslo', 'exact', '0 up; 100 down; 174.4 up');
    expect(await reportNode('exact', month.to + day, 90)).toMatchObject({
      verdict: 'met',
      budget_seconds: 267_840,
      budget_left_seconds: 0,
    });
  });

  it('of a month with unknown time has a minimum uptime, and never 100 %', async () => {
    await recordStates('riga', 'unseen', '0 up', [[10, 15]]);
    const report = await slaReport(sql, month, month.to + day, 99.9, thresholds);
    const unobserved = report.nodes.filter(({ node }) => node === 'unseen');
    expect(unobserved).toMatchObject([
      { verdict: 'open', unknown_seconds: 18_000, uptime: 1, uptime_upper: 1 },
    ]);
    expect(unobserved[0]?.uptime_lower).toBeCloseTo(1 - 5 / 744, 8);
    const page = slaPage({ ...report, nodes: unobserved });
    expect(page).toContain('≥ 99.327 %');
    expect(page.replace(/<style>[\s\S]*<\/style>/, '')).not.toContain('100');
  });

  it('has a page with the states of each probe, notes, maintenance and the bounds, also for a part of a month', async () => {
    await recordStates('sofia', 'for customers', '240 up; 300 down; 301 up; 400 maintenance; 402 up', [
      [500, 503],
    ]);
    const about = { node: 'for customers', author: 'ada' };
    await storeIncidentNote(sql, { ...about, at: month.from + 300.5 * hour, note: 'disk <full>' }, month.to);
    await storeIncidentNote(
      sql,
      { ...about, at: month.from + 301 * hour, note: 'written later' },
      month.to + 2 * day,
    );
    await sql`
      insert into recorder.health_maintenance ${sql(
        [
          { node: 'for customers', reason: 'new <disk>', announced_at: new Date(month.from) },
          { node: 'another', reason: 'another', announced_at: new Date(month.from) },
          { node: null, reason: 'announced later', announced_at: new Date(month.to + 2 * day) },
        ].map((one) => ({
          ...one,
          ...{ starts_at: new Date(month.from + 399 * hour), ends_at: new Date(month.from + 403 * hour) },
        })),
      )}`;
    const report = await slaReport(sql, month, month.to + day, 99.9, thresholds);
    const nodes = report.nodes.filter(({ node }) => node === 'for customers');
    expect(nodes).toMatchObject([
      {
        since: new Date(month.from + 240 * hour),
        maintenance: [
          {
            ...{ started_at: new Date(month.from + 400 * hour), ended_at: new Date(month.from + 402 * hour) },
            reason: 'new <disk>',
          },
        ],
        notes: [{ author: 'ada', note: 'disk <full>' }],
        probes: [
          { probe: 'health', down_seconds: 3600, unknown_seconds: 3 * 3600, maintenance_seconds: 7200 },
        ],
      },
    ]);
    const page = slaPage({ ...report, nodes });
    expect(page).toContain('watched only since 2026-01-11 00:00');
    expect(page).toContain('disk &lt;full&gt;');
    expect(page).not.toContain('written later');
    expect(page).toContain('<td>2026-01-17 16:00</td><td>2026-01-17 18:00</td><td>new &lt;disk&gt;</td>');
    // Observed for 504 hours, 502 of them outside of maintenance: 498 up, 1 down and 3 unknown.
    expect(page).toContain('at least 99.203 % and at most 99.801 %');
    expect(page).toContain('3 h 0 min of it were not observed');
    expect(page).toContain('<td>health</td>');
  });

  it('has a page without scripts and external resources', async () => {
    const page = slaPage(await slaReport(sql, month, month.to + day, 99.9, thresholds));
    expect(page).toContain('&lt;script&gt;');
    expect(page).not.toMatch(/<script|src=|href=|url\(/);
  });
});

describe('the remaining time until a validation misses its reward', () => {
  it('follows from its start, its end and its downtime', () => {
    const validation = {
      start_time: new Date(0),
      end_time: new Date(100 * day),
      observed_at: new Date(50 * day),
      uptime_percent: 90,
    };
    expect(downtimeLeft(validation, 80)).toBe(15 * 1440);
    expect(downtimeLeft(validation, 95)).toBe(0);
    expect(downtimeLeft({ ...validation, uptime_percent: 70 }, 90)).toBe(-5 * 1440);
    expect(downtimeLeft({ ...validation, uptime_percent: null }, 90)).toBeNull();
  });

  it('depends on when it started', () => {
    const thresholds = { minUptime: 80, minUptimeAfterUpgrade: 90, upgradeAt: 1000 };
    expect([999, 1000].map((start) => thresholdOf(start, thresholds))).toEqual([80, 90]);
    expect(thresholdOf(5000, { minUptime: 80, minUptimeAfterUpgrade: 90 })).toBe(80);
  });
});

describe('texts', () => {
  it('never round up', () => {
    expect(percentText(0.999_999_9)).toBe('99.999 %');
    expect(percentText(1)).toBe('100.000 %');
    const uptime = {
      node: 'a',
      probe: 'health',
      up_seconds: 1,
      down_seconds: 0,
      unknown_seconds: 1,
      maintenance_seconds: 0,
      uptime: 1,
      uptime_lower: 0.5,
      uptime_upper: 1,
      coverage: 0.5,
    };
    expect(achievedText(uptime)).toBe('≥ 50.000 %');
    expect(achievedText({ ...uptime, uptime: null, uptime_lower: 0 })).toBe('unknown');
  });

  it('format durations', () => {
    expect([1.5, 62, 3600 * 5 + 240, 86_400 * 2 + 10_800, -90].map(spanText)).toEqual([
      '1.5 s',
      '1 min 2 s',
      '5 h 4 min',
      '2 d 3 h',
      '−1 min 30 s',
    ]);
  });
});

describe('maintenance announced by command', () => {
  it('is listed and ended', async () => {
    const now = Date.UTC(2026, 2, 1);
    const id = await announceMaintenance(
      sql,
      { node: 'a', from: now - hour, to: now + hour, reason: 'disk' },
      now,
    );
    const find = createMaintenanceLookup(sql, { once: [], recurring: [] });
    expect(await find(now, now + 1)).toEqual([{ nodes: ['a'], from: now, to: now + hour }]);
    expect((await listMaintenance(sql, now)).map((one) => one.id)).toEqual([id]);
    expect(await endMaintenance(sql, id, now + minute)).toBe(true);
    expect(await find(now, now + hour)).toEqual([{ nodes: ['a'], from: now, to: now + minute }]);
    expect(await endMaintenance(sql, id, now + 2 * minute)).toBe(false);
  });

  it('that was withdrawn before its start cannot be ended', async () => {
    const now = Date.UTC(2026, 3, 1);
    const id = await announceMaintenance(
      sql,
      { node: 'a', from: now + hour, to: now + 2 * hour, reason: null },
      now,
    );
    expect(await endMaintenance(sql, id, now + minute)).toBe(true);
    expect(await endMaintenance(sql, id, now + 2 * minute)).toBe(false);
  });
});
