import { expect } from 'vitest';
import { testCustomRules } from '../../src/alerts/configured-rules.ts';
import { sendHeartbeat } from '../../src/alerts/heartbeat.ts';
import { replayRules } from '../../src/alerts/replay.ts';
import { runRound } from '../../src/alerts/round.ts';
import { alertsConfig, scriptedRule, testAlerts } from '../support/alerts.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { upstreamServer } from '../support/upstream-server.ts';

const never = new AbortController().signal;
const { it, database } = withDatabase();

const configWithRule = (sql: string) => ({ rules: [{ name: 'mine', sql }] });

it.each([
  ['delete from reporting.alerts', /^alerts\.rules\[0\]\.sql: /],
  ['select nothing from reporting.alerts', /^alerts\.rules\[0\]\.sql: .*"nothing" does not exist/],
  ['select * from recorder.alerts', /^alerts\.rules\[0\]\.sql: .*permission denied/],
])('refuses an invalid query with its path: %s', async (sql, problem) => {
  await expect(testCustomRules(alertsConfig(configWithRule(sql)), database.url, never)).rejects.toThrow(
    problem,
  );
});

it('names a query that an unavailable or slow database did not answer, and runs the others', async () => {
  const slow = alertsConfig({ rules: [{ name: 'slow', sql: 'select pg_sleep(600)' }] });
  const aborted = new AbortController();
  const unreachable = await testCustomRules(slow, 'postgres://127.0.0.1:1/none', never);
  expect(unreachable).toEqual([
    { path: 'alerts.rules[0].sql', cause: expect.stringContaining('ECONNREFUSED') },
  ]);
  aborted.abort(new Error('given up'));
  expect(await testCustomRules(slow, database.url, aborted.signal)).toMatchObject([
    { path: 'alerts.rules[0].sql' },
  ]);
});

it('returns an alert per row, one for an excess of rows, and reports far too many rows as an error', async () => {
  const clock = new ManualClock(Date.now());
  const runRuleOnce = async (sql: string) => {
    const alerts = testAlerts(database.url, clock, configWithRule(sql));
    clock.now += 120_000;
    const rules = alerts.rules.filter(({ name }) => name === 'mine');
    const round = await runRound({ ...alerts, rules }, never);
    await alerts.close();
    return round;
  };
  const round = await runRuleOnce(
    "select 'a' as subject, 'critical' as severity, 12345678901234567890 as n union all select 'b', 'info', 1",
  );
  expect(round?.notices.map(({ alert }) => [alert.subject, alert.severity, alert.details])).toEqual([
    ['a', 'critical', { subject: 'a', severity: 'critical', n: '12345678901234567890' }],
    ['b', 'info', { subject: 'b', severity: 'info', n: '1' }],
  ]);
  const excess = await runRuleOnce('select n from generate_series(1, 300) as n');
  const fired = excess?.notices.filter(({ kind }) => kind === 'firing') ?? [];
  expect(fired).toHaveLength(201);
  expect(fired.at(-1)?.alert.summary).toBe('100 more, which are not listed');
  const many = await runRuleOnce('select n from generate_series(1, 3000) as n');
  expect(many?.failed).toEqual([{ rule: 'mine', error: expect.stringContaining('more than 2000 rows') }]);
});

it('keeps the rows of other rules if a row has unusual values', async () => {
  const clock = new ManualClock(Date.now());
  const rules = [
    { name: 'strange', sql: "select 'a' as subject, 99999 as since, repeat('x', 100000) as long" },
    { name: 'endless', sql: "select 'b' as subject, '250000-01-01T00:00:00Z'::timestamptz as since" },
  ];
  const alerts = testAlerts(database.url, clock, { rules });
  const round = await runRound(
    { ...alerts, rules: alerts.rules.filter(({ name }) => ['strange', 'endless'].includes(name)) },
    never,
  );
  const firing = round?.notices
    .filter(({ kind }) => kind === 'firing')
    .map(({ alert: { subject, since } }) => [subject, since]);
  expect(firing).toEqual([
    ['a', null],
    ['b', null],
  ]);
  const [row] = await alerts.sql<{ bytes: number }[]>`
    select length(details ->> 'long') as bytes from reporting.alerts where rule = 'strange'`;
  expect(row?.bytes).toBe(2_000);
  await alerts.close();
});

it('truncates a text within a character to the same text each time', async () => {
  const clock = new ManualClock(Date.now());
  const long = "repeat('x', 499) || '😀' as subject, repeat('y', 1999) || '😀' as more";
  const alerts = testAlerts(database.url, clock, { rules: [{ name: 'long', sql: `select ${long}` }] });
  const rules = alerts.rules.filter(({ name }) => name === 'long');
  const runNextRound = async () => {
    const round = await runRound({ ...alerts, rules }, never);
    expect(round?.failed).toEqual([]);
    return round?.notices.filter(({ alert }) => alert.rule === 'long').map(({ kind }) => kind);
  };
  expect(await runNextRound()).toEqual(['firing']);
  clock.now += 120_000;
  expect(await runNextRound()).toEqual([]);
  await alerts.close();
});

it('replays queries as rounds run them, and excludes rules without a past', async () => {
  const start = Date.parse('2026-11-01T00:00:00Z');
  const [minute, hour] = [60_000, 3_600_000];
  const isIll = (at: Date) => at.getTime() >= start + hour && at.getTime() < start + 2 * hour;
  const rule = {
    ...scriptedRule({ for: 2 * minute }),
    evaluate: async ({ at }: { at: Date }) =>
      isIll(at) ? [{ subject: 'n1', summary: 'ill', since: null }] : [],
  };
  const alerts = testAlerts(database.url, new ManualClock(start), {});
  const rules = [rule, scriptedRule({ name: 'present', onlyNow: 'it is not kept' })];
  const range = { from: start, to: start + 3 * hour, step: minute };
  const { alerts: replayed, left, messages, rounds } = await replayRules({ ...alerts, rules }, range, never);
  expect(replayed).toMatchObject([
    { subject: 'n1', firedAt: new Date(start + hour + 2 * minute), resolvedAt: new Date(start + 2 * hour) },
  ]);
  expect({ left, messages, rounds }).toEqual({
    left: [{ rule: 'present', reason: 'it is not kept' }],
    messages: 2,
    rounds: 181,
  });
  await alerts.close();
});

it('sends the heartbeat, but not while a channel fails for long', async () => {
  const server = await upstreamServer((_, response) => response.writeHead(200).end());
  const alerts = testAlerts(database.url, new ManualClock(Date.now()), { heartbeat: `${server.url}/ping` });
  await sendHeartbeat(alerts, never);
  expect(server.received.map(({ method, url }) => `${method} ${url.pathname}`)).toEqual(['GET /ping']);
  await alerts.sql`insert into recorder.alert_channels (recorder, channel, failing_since, error)
    values ('recorder', 'ops', now() - interval '1 hour', 'HTTP 503')`;
  await sendHeartbeat(alerts, never);
  expect(server.received).toHaveLength(1);
  await alerts.close();
  await server.close();
});
