import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest';
import { acknowledge } from '../../src/alerts/acknowledge.ts';
import { deliver } from '../../src/alerts/deliver.ts';
import { runRound } from '../../src/alerts/round.ts';
import { alertingFailing, exportFailing } from '../../src/alerts/rules/findings.ts';
import { collectTexts, readReferencedSecrets } from '../../src/config/named-secrets.ts';
import {
  alertsConfig,
  type ScriptedRule,
  scriptedRule,
  type TestAlerts,
  testAlerts,
} from '../support/alerts.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { type UpstreamServer, upstreamServer } from '../support/upstream-server.ts';

const never = new AbortController().signal;
const second = 1_000;

const { it, database } = withDatabase();
let server: UpstreamServer;
/** The next response of the stand-in. Default: 204. */
let answers: number[] = [];
const opened: TestAlerts[] = [];

beforeAll(async () => {
  server = await upstreamServer((_, response) => response.writeHead(answers.shift() ?? 204).end());
});
afterAll(async () => {
  await server.close();
});
beforeEach(async () => {
  answers = [];
});
afterEach(async () => {
  for (const one of opened.splice(0)) {
    await one.sql`truncate recorder.alerts, recorder.alert_messages, recorder.alert_channels, recorder.alert_rules,
      recorder.alert_rounds`;
    await one.close();
  }
});

function openAlerts(rule: ScriptedRule | readonly ScriptedRule[], config: object = {}) {
  const clock = new ManualClock(Date.now());
  const from = server.received.length;
  const alerts = testAlerts(
    database.url,
    clock,
    { channels: [{ name: 'ops', type: 'webhook', url: `${server.url}/hook` }], ...config },
    { rules: [rule].flat() },
  );
  opened.push(alerts);
  return {
    alerts,
    clock,
    /** Runs a round half a minute after the previous one, and returns its messages. */
    round: async (send = true) => {
      clock.now += 30 * second;
      const round = await runRound(alerts, never);
      if (send) await deliver(alerts, 'ops', never);
      return round;
    },
    deliveries: () =>
      server.received.slice(from).map(({ body }) => {
        const { kind, items } = JSON.parse(body);
        return [kind, ...items.map(({ subject }: { subject: string }) => subject)].join(' ');
      }),
  };
}

describe('a round', () => {
  it('stores the alert of a rule, and notifies of it and of its end once', async () => {
    const rule = scriptedRule();
    const { alerts, round, deliveries } = openAlerts(rule);
    rule.result = ['n1'];
    await round();
    await round();
    rule.result = [];
    await round();
    await round();
    expect(deliveries()).toEqual(['firing n1', 'resolved n1']);
    const rows = await alerts.sql`select rule, subject, severity, state, summary from reporting.alerts`;
    expect([...rows]).toEqual([
      { rule: 'scripted', subject: 'n1', severity: 'warning', state: 'resolved', summary: 'n1 is ill' },
    ]);
    const messages =
      await alerts.sql`select kind, state, attempts from reporting_internal.alert_messages order by id`;
    expect([...messages]).toEqual([
      { kind: 'firing', state: 'sent', attempts: 1 },
      { kind: 'resolved', state: 'sent', attempts: 1 },
    ]);
  });

  it('sends subjects of one rule in one message, and those of two rules separately', async () => {
    const rules = [scriptedRule({ name: 'one' }), scriptedRule({ name: 'two' })];
    const { round, deliveries } = openAlerts(rules);
    for (const rule of rules) rule.result = ['n1', 'n2'];
    await round();
    expect(deliveries()).toEqual(['firing n1 n2', 'firing n1 n2']);
  });

  it('groups an excess of subjects into one alert, which does not end if others sort before it', async () => {
    const rule = scriptedRule();
    const { alerts, round, deliveries } = openAlerts(rule);
    const names = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `n${from + at}`);
    rule.result = names(100, 300);
    await round();
    rule.result = names(0, 300);
    await round();
    rule.result = names(0, 250);
    await round();
    rule.result = [];
    await round();
    expect(deliveries()).toEqual([
      `firing ${names(100, 300).join(' ')}`,
      `firing ${names(0, 100).join(' ')} more`,
      `resolved ${names(250, 300).join(' ')}`,
      expect.stringMatching(/^resolved (?=.*\bmore\b)(?=.*\bn0\b)(?=.*\bn249\b)/),
    ]);
    const [more] = await alerts.sql`select summary from reporting.alerts where subject = 'more'`;
    expect(more).toEqual({ summary: '50 more, which are not listed' });
  });

  it('sends nothing for an excess of subjects with an unknown state', async () => {
    const rule = scriptedRule();
    const { round, deliveries } = openAlerts(rule);
    const unknown = Array.from({ length: 300 }, (_, at) => ({
      ...{ subject: `n${at}`, summary: `n${at} is ill`, since: null, unknown: true },
    }));
    rule.result = unknown;
    await round();
    rule.result = ['n299', ...unknown.slice(0, 299)];
    await round();
    rule.result = unknown;
    await round();
    expect(deliveries()).toEqual(['firing n299']);
  });

  it('keeps the alerts of a rule whose query fails, and reports the failure', async () => {
    const rule = scriptedRule();
    const { alerts, round, deliveries } = openAlerts(rule);
    rule.result = ['n1'];
    await round();
    rule.result = new Error('relation "reporting.nothing" does not exist');
    expect((await round())?.failed).toEqual([
      { rule: 'scripted', error: 'relation "reporting.nothing" does not exist' },
    ]);
    await round();
    expect(deliveries()).toEqual(['firing n1']);
    const [failed] =
      await alerts.sql`select failed_since is not null as failed, error from recorder.alert_rules`;
    expect(failed).toMatchObject({ failed: true, error: expect.stringContaining('does not exist') });
    rule.result = [];
    await round();
    expect(deliveries()).toEqual(['firing n1', 'resolved n1']);
    const [fixed] = await alerts.sql`select failed_since, error from recorder.alert_rules`;
    expect(fixed).toEqual({ failed_since: null, error: null });
  });

  it('reports a rule whose rows lack their subject, and evaluates the others', async () => {
    const [one, two] = [scriptedRule({ name: 'one' }), scriptedRule({ name: 'two' })];
    const { round, deliveries } = openAlerts([one, two]);
    one.result = JSON.parse('[{ "subject": null, "summary": "without a subject", "since": null }]');
    two.result = [{ subject: 'n1', summary: 'n1 is ill', since: new Date(Number.NaN) }];
    expect((await round())?.failed).toEqual([
      { rule: 'one', error: expect.stringContaining('a row without subject') },
    ]);
    expect(deliveries()).toEqual(['firing n1']);
  });

  it('continues as long as its rules take, and keeps its lock', async () => {
    const slow = scriptedRule({ name: 'slow' });
    const { alerts, clock, deliveries } = openAlerts([slow, scriptedRule({ name: 'other' })]);
    slow.result = ['n1'];
    const rules = alerts.rules.map((rule) => ({
      ...rule,
      evaluate: async (context: Parameters<typeof rule.evaluate>[0]) => {
        // Changes of the database's clock meanwhile, and the next tick.
        await alerts.sql`update recorder.alert_rounds set lease_until = lease_until - interval '45 seconds'`;
        expect(await runRound(alerts, never)).toBe(null);
        return rule.evaluate(context);
      },
    }));
    clock.now += 30 * second;
    const round = await runRound({ ...alerts, rules }, never);
    expect(round?.notices).toHaveLength(1);
    await deliver(alerts, 'ops', never);
    expect(deliveries()).toEqual(['firing n1']);
  });

  it('ends the alert of a node that was removed from the configuration, and does not report a recovery', async () => {
    const rule = scriptedRule({ clear: 3_600_000, dependsOn: ({ subject }) => [subject] });
    const { alerts, round, deliveries, clock } = openAlerts(rule);
    rule.result = ['n1', 'n2'];
    await round();
    rule.result = [{ subject: 'n1', summary: 'n1 is ill', since: null, unknown: true }];
    clock.now += 30 * second;
    await runRound({ ...alerts, facts: { ...alerts.facts, nodes: ['n2'] } }, never);
    await deliver(alerts, 'ops', never);
    expect(deliveries()).toEqual(['firing n1 n2', 'unwatched n1']);
    const rows = await alerts.sql`select subject, state, summary from reporting.alerts order by subject`;
    expect([...rows]).toEqual([
      {
        subject: 'n1',
        state: 'resolved',
        summary: 'no longer watched, so a recovery was not observed; last report: n1 is ill',
      },
      { subject: 'n2', state: 'firing', summary: 'n2 is ill' },
    ]);
  });

  it('ends the alert of a dataset only if no active target of it is left', async () => {
    const rule = scriptedRule({ dependsOn: ({ subject }) => [subject] });
    const { alerts, round, deliveries } = openAlerts(rule);
    await alerts.sql`insert into recorder.targets (source, target_key, target) values ('s', 'k', '{"subnetId": "L1"}')`;
    await alerts.sql`insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since)
      values ('s', 'k', 'peers', 1000, true, now())`;
    rule.result = ['peers', 'L1', 'fees'];
    await round();
    rule.result = [];
    await round();
    expect(deliveries()).toEqual(['firing peers L1 fees', 'resolved peers L1', 'unwatched fees']);
    await alerts.sql`truncate recorder.targets, recorder.target_datasets`;
  });

  it('ends the alert of a rule whose dataset is no longer recorded, and does not report a recovery', async () => {
    const rules = ['peers', 'fees'].map((name) => scriptedRule({ name, needs: [name] }));
    const { alerts, round, deliveries } = openAlerts(rules);
    await alerts.sql`insert into recorder.targets (source, target_key, target) values ('s', 'k', '{}')`;
    await alerts.sql`
      insert into recorder.target_datasets (source, target_key, dataset, every_ms, active, requested_since, first_success_at)
      select 's', 'k', dataset, 1000, true, now(), '2020-01-01' from unnest(array['peers', 'fees']) dataset`;
    for (const rule of rules) rule.result = ['n1'];
    await round();
    await alerts.sql`update recorder.target_datasets set active = false where dataset = 'fees'`;
    for (const rule of rules) rule.result = [];
    await round();
    expect(deliveries().slice(-2)).toEqual(['resolved n1', 'unwatched n1']);
    await alerts.sql`truncate recorder.targets, recorder.target_datasets`;
  });

  it('ends the alert of a channel, sink or export that was removed, and reports the recovery of others', async () => {
    const failing = scriptedRule({ dependsOn: (alert) => alertingFailing.dependsOn?.(alert) ?? [] });
    const late = scriptedRule({ name: 'late', dependsOn: (alert) => exportFailing.dependsOn?.(alert) ?? [] });
    const { alerts, round, deliveries } = openAlerts([failing, late]);
    await alerts.sql`insert into recorder.change_sinks (recorder, sink, since) values ('recorder', 'kept', now())`;
    await alerts.sql`insert into recorder.exports (recorder, destination, every_ms, requested_since, format)
      values ('recorder', '/files', 1000, now(), 'csv')`;
    await alerts.sql`insert into recorder.alert_channels (recorder, channel) values ('another recorder', 'theirs')`;
    failing.result = [
      ...['ops', 'theirs', 'old'].map((name) => `alerts the channel ${name}`),
      ...['kept', 'old'].map((name) => `changes the sink ${name}`),
    ];
    late.result = ['export /files', 'export /old'];
    await round();
    failing.result = [];
    late.result = [];
    await round();
    expect(deliveries().slice(-4).sort()).toEqual([
      'resolved alerts the channel ops alerts the channel theirs changes the sink kept',
      'resolved export /files',
      'unwatched alerts the channel old changes the sink old',
      'unwatched export /old',
    ]);
    await alerts.sql`truncate recorder.change_sinks, recorder.exports`;
  });

  it('notifies an added channel once of what fires, and of its end', async () => {
    const rule = scriptedRule();
    const { alerts, clock, round, deliveries } = openAlerts(rule);
    const added = { name: 'added', type: 'webhook', url: `${server.url}/hook` };
    const config = alertsConfig({ channels: [...alerts.config.channels, added] });
    const roundOfBoth = async () => {
      clock.now += 30 * second;
      await runRound({ ...alerts, config }, never);
      for (const { name } of config.channels) await deliver({ ...alerts, config }, name, never);
    };
    rule.result = ['n1'];
    await round();
    rule.result = ['n1', 'n2'];
    await roundOfBoth();
    await roundOfBoth();
    rule.result = [];
    await roundOfBoth();
    expect(deliveries()).toEqual([
      ...['firing n1', 'firing n2', 'firing n1', 'firing n2'],
      ...['resolved n1 n2', 'resolved n1 n2'],
    ]);
  });

  it('sends nothing twice if two workers run it at the same time', async () => {
    const rule = scriptedRule();
    const { alerts, round, deliveries } = openAlerts(rule);
    const other = testAlerts(
      database.url,
      new ManualClock(alerts.clock() + 30 * second),
      {
        channels: [{ name: 'ops', type: 'webhook', url: `${server.url}/hook` }],
      },
      { rules: [rule] },
    );
    for (let time = 0; time < 10; time += 1) {
      rule.result = [`n${time}`];
      await Promise.all([
        round(false),
        runRound(other, never),
        deliver(alerts, 'ops', never),
        deliver(other, 'ops', never),
      ]);
    }
    rule.result = [];
    await round(false);
    await Promise.all([deliver(alerts, 'ops', never), deliver(other, 'ops', never)]);
    await other.close();
    const firing = deliveries()
      .filter((one) => one.startsWith('firing'))
      .flatMap((one) => one.split(' ').slice(1));
    expect(firing.length).toBeGreaterThan(0);
    expect(new Set(firing).size).toBe(firing.length);
    const [waiting] =
      await alerts.sql`select count(*)::int as count from recorder.alert_messages where state = 'waiting'`;
    expect(waiting?.count).toBe(0);
  });

  it('sends nothing again when the clock jumps, forward or back', async () => {
    const rule = scriptedRule({ repeatInterval: 3_600_000, for: 300 * second });
    const { clock, round, deliveries } = openAlerts(rule);
    rule.result = ['n1'];
    await round();
    clock.now += 86_400_000;
    await round();
    expect(deliveries()).toEqual([]); // the alert did not fire for five minutes; only the clock shows that
    for (let time = 0; time < 11; time += 1) await round();
    expect(deliveries()).toEqual(['firing n1']);
    clock.now += 365 * 86_400_000;
    await round();
    clock.now -= 366 * 86_400_000;
    await round();
    await round();
    expect(deliveries()).toEqual(['firing n1']);
    rule.result = [];
    await round();
    expect(deliveries()).toEqual(['firing n1', 'resolved n1']);
  });

  it('sends no reminder of an acknowledged alert', async () => {
    const rule = scriptedRule({ repeatInterval: 60 * second });
    const { alerts, round, deliveries } = openAlerts(rule);
    rule.result = ['n1'];
    await round();
    await round();
    await round();
    expect(deliveries()).toEqual(['firing n1', 'reminder n1']);
    const [row] = await alerts.sql<{ id: string }[]>`select id::text from reporting.alerts`;
    const acknowledgement = { by: 'ann', note: 'the disk is ordered' };
    expect(await acknowledge(alerts, Number(row?.id), acknowledgement)).toBe(true);
    expect(await acknowledge(alerts, Number(row?.id), acknowledgement)).toBe(false);
    for (let time = 0; time < 5; time += 1) await round();
    expect(deliveries()).toEqual(['firing n1', 'reminder n1']);
    rule.result = [];
    await round();
    expect(deliveries()).toEqual(['firing n1', 'reminder n1', 'resolved n1']);
    const [acknowledged] = await alerts.sql`select acknowledged_by, note from reporting.alerts`;
    expect(acknowledged).toEqual({ acknowledged_by: 'ann', note: 'the disk is ordered' });
  });
});

describe('a channel', () => {
  it('receives all messages in order after an outage, which is reported meanwhile', async () => {
    const rule = scriptedRule();
    const { alerts, round, deliveries } = openAlerts(rule);
    answers = [503, 503, 503];
    rule.result = ['n1'];
    await round();
    const channel = async () => {
      const [row] = await alerts.sql`
        select failures, error, failing_since is not null as failing,
          round(extract(epoch from next_try_at - now()))::int as wait from recorder.alert_channels`;
      return row;
    };
    expect(await channel()).toEqual({ failures: 1, error: 'HTTP 503', failing: true, wait: 10 });
    rule.result = [];
    await round(); // the channel is not retried before its time
    expect(deliveries()).toHaveLength(1);
    /** Moves the time. */
    const makeRetryDue = () => alerts.sql`update recorder.alert_channels set next_try_at = now()`;
    await makeRetryDue();
    await round();
    expect(await channel()).toMatchObject({ failures: 2, wait: 20 });
    rule.result = ['n2'];
    await makeRetryDue();
    await round();
    expect(await channel()).toMatchObject({ failures: 3, wait: 40 });
    await makeRetryDue();
    await round();
    expect(deliveries().slice(3)).toEqual(['firing n1', 'resolved n1', 'firing n2']);
    expect(await channel()).toEqual({ failures: 0, error: null, failing: false, wait: null });
  });

  it('receives the next messages after it rejects one, and the rejection is reported', async () => {
    const rule = scriptedRule();
    const { alerts, round, deliveries } = openAlerts(rule);
    answers = [400];
    rule.result = ['n1'];
    await round();
    rule.result = [];
    await round();
    expect(deliveries()).toEqual(['firing n1', 'resolved n1']);
    const rows =
      await alerts.sql`select kind, state, error from reporting_internal.alert_messages order by id`;
    expect([...rows]).toEqual([
      { kind: 'firing', state: 'refused', error: 'HTTP 400' },
      { kind: 'resolved', state: 'sent', error: null },
    ]);
  });

  it('is reported as available after an outage even if it rejects a message', async () => {
    const rule = scriptedRule();
    const { alerts, round } = openAlerts(rule);
    answers = [503, 400];
    rule.result = ['n1'];
    await round();
    await alerts.sql`update recorder.alert_channels set next_try_at = now()`;
    await round();
    const rows = await alerts.sql`select failing_since, failures, error from recorder.alert_channels`;
    expect([...rows]).toEqual([{ failing_since: null, failures: 0, error: null }]);
  });

  it('is reported as available once it accepts the reminder of a firing alert', async () => {
    const rule = scriptedRule();
    const { alerts, round } = openAlerts(rule, {
      channels: [{ name: 'ops', type: 'alertmanager', url: server.url }],
    });
    const makeRetryDue = () =>
      alerts.sql`update recorder.alert_channels set next_try_at = now(), refreshed_at = now() - interval '2 minutes'`;
    const isFailing = async () => {
      const [row] =
        await alerts.sql`select failing_since is not null as failing from recorder.alert_channels`;
      return row?.failing;
    };
    rule.result = ['n1'];
    await round();
    await makeRetryDue();
    answers = [503];
    await round();
    expect(await isFailing()).toBe(true);
    await makeRetryDue();
    await round();
    expect(await isFailing()).toBe(false);
    // A recorder that stops is no failure of the channel.
    const stop = new AbortController();
    await makeRetryDue();
    const stopping = deliver(alerts, 'ops', stop.signal);
    stop.abort();
    await stopping;
    expect(await isFailing()).toBe(false);
  });

  it('with a severity filter receives the end of a sent alert whose severity dropped since', async () => {
    const rule = scriptedRule();
    const { round, deliveries } = openAlerts(rule, {
      channels: [{ name: 'ops', type: 'webhook', url: server.url, minSeverity: 'critical' }],
    });
    const findings = (severity: 'critical' | 'warning') => [
      { subject: 'n1', summary: 'n1 is ill', since: null, severity },
    ];
    rule.result = findings('critical');
    await round();
    rule.result = findings('warning');
    await round();
    rule.result = [];
    await round();
    expect(deliveries()).toEqual(['firing n1', 'resolved n1']);
  });

  it('of PagerDuty receives twenty events a message, so that accepted events are not sent again with the rest', async () => {
    const rule = scriptedRule();
    const { alerts, round, deliveries } = openAlerts(rule, {
      channels: [{ name: 'ops', type: 'pagerduty', url: server.url, key: ['$', '{ROUTING_KEY}'].join('') }],
    });
    rule.result = Array.from({ length: 50 }, (_, at) => `n${at}`);
    await round(false);
    const rows = await alerts.sql`
      select cardinality(alerts) as events from recorder.alert_messages order by id`;
    expect(rows.map(({ events }) => events)).toEqual([20, 20, 10]);
    expect(deliveries()).toEqual([]);
  });

  it.each([
    { type: 'webhook', url: '/hook' },
    { type: 'pagerduty', url: '', key: ['$', '{ROUTING_KEY}'].join('') },
  ])(
    'of type $type receives no known key from a restored database, which assigns ids again',
    async (type) => {
      const rule = scriptedRule();
      const { alerts, clock } = openAlerts(rule, {
        channels: [{ name: 'ops', ...type, url: server.url + type.url }],
      });
      const secrets = readReferencedSecrets(collectTexts(alerts.config.channels), {
        ROUTING_KEY: 'r'.repeat(32),
      });
      const keys = new Set<unknown>();
      for (const subject of ['n1', 'n2']) {
        await alerts.sql`truncate recorder.alerts, recorder.alert_messages restart identity`;
        clock.now += 30 * second;
        rule.result = [subject];
        await runRound(alerts, never);
        await deliver({ ...alerts, secrets }, 'ops', never);
        const { headers, body } = server.received.at(-1) ?? {};
        keys.add(headers?.['idempotency-key'] ?? JSON.parse(body ?? '{}').dedup_key);
      }
      expect(keys.size).toBe(2);
    },
  );

  it('receives the messages queued behind one that cannot be parsed', async () => {
    const rule = scriptedRule();
    const { alerts, round, deliveries } = openAlerts(rule);
    rule.result = ['n1'];
    await round(false);
    await alerts.sql`update recorder.alert_messages set body = '{"kind": "of a later version"}'`;
    rule.result = [];
    await round();
    expect(deliveries()).toEqual(['resolved n1']);
    const rows =
      await alerts.sql`select kind, state, error from reporting_internal.alert_messages order by id`;
    expect([...rows]).toEqual([
      {
        kind: 'firing',
        state: 'refused',
        error: expect.stringContaining('another version of chain-recorder wrote the message'),
      },
      { kind: 'resolved', state: 'sent', error: null },
    ]);
  });

  it('receives queued messages although a clock was ahead', async () => {
    const rule = scriptedRule();
    const { alerts, round, deliveries } = openAlerts(rule);
    await alerts.sql`insert into recorder.alert_channels (recorder, channel, lease_until, next_try_at)
      values ('recorder', 'ops', now() + interval '1 year', now() + interval '1 year')`;
    rule.result = ['n1'];
    await round();
    expect(deliveries()).toEqual(['firing n1']);
  });

  it('receives and queues nothing once it is not configured any more', async () => {
    const rule = scriptedRule();
    const { alerts, round } = openAlerts(rule);
    rule.result = ['n1'];
    await round(false);
    const { dueChannels } = await import('../../src/alerts/outbox.ts');
    expect(await dueChannels(alerts.sql, 'recorder', ['ops'])).toEqual(['ops']);
    expect(await dueChannels(alerts.sql, 'recorder', ['other'])).toEqual([]);
    const rows = await alerts.sql`select state, error from reporting_internal.alert_messages`;
    expect([...rows]).toEqual([{ state: 'dropped', error: 'the channel is not configured any more' }]);
  });

  it('receives only critical alerts in quiet hours; the rest follows afterwards', async () => {
    const at = (time: string) => Date.parse(`2026-11-02T${time}:00Z`);
    const light = scriptedRule({ name: 'light' });
    const heavy = scriptedRule({ name: 'heavy', severity: 'critical' });
    const { clock, round, deliveries } = openAlerts([light, heavy], {
      channels: [
        {
          name: 'ops',
          type: 'webhook',
          url: `${server.url}/hook`,
          quietHours: { from: '22:00', to: '07:00', timeZone: 'Europe/Zurich' },
        },
      ],
    });
    clock.now = at('22:30'); // 23:30 in Zurich
    light.result = ['n1'];
    await round();
    expect(deliveries()).toEqual([]);
    heavy.result = ['n2'];
    await round();
    expect(deliveries()).toEqual(['firing n2']);
    clock.now = at('05:59'); // 06:59
    await round();
    clock.now = at('06:01');
    await round();
    expect(deliveries()).toEqual(['firing n2', 'firing n1']);
  });

  it('with expiring alerts receives reminders of known alerts in quiet hours, and none of queued ones', async () => {
    const at = (time: string) => Date.parse(`2026-11-${time}:00Z`);
    const light = scriptedRule({ name: 'light' });
    const heavy = scriptedRule({ name: 'heavy', severity: 'critical' });
    const { alerts, clock, round } = openAlerts([light, heavy], {
      channels: [
        {
          name: 'ops',
          type: 'alertmanager',
          url: server.url,
          quietHours: { from: '22:00', to: '07:00', timeZone: 'UTC' },
        },
      ],
    });
    const subjectsReportedAt = async (time: string) => {
      await alerts.sql`update recorder.alert_channels set refreshed_at = now() - interval '2 minutes'`;
      const from = server.received.length;
      clock.now = at(time);
      await round();
      return [
        ...new Set(
          server.received
            .slice(from)
            .flatMap(({ body }) =>
              JSON.parse(body).map(({ labels }: { labels: { subject: string } }) => labels.subject),
            ),
        ),
      ].sort();
    };
    light.result = ['n1'];
    expect(await subjectsReportedAt('02T21:00')).toEqual(['n1']);
    light.result = ['n1', 'n2'];
    heavy.result = ['n3'];
    expect(await subjectsReportedAt('02T22:30')).toEqual(['n1', 'n3']);
    expect(await subjectsReportedAt('02T23:30')).toEqual(['n1', 'n3']);
    expect(await subjectsReportedAt('03T07:01')).toEqual(['n1', 'n2', 'n3']);
  });

  it('receives alerts of its severities from the rules that name it', async () => {
    const rule = scriptedRule();
    const otherChannelRule = scriptedRule({ name: 'elsewhere', channels: ['other'] });
    const { round, deliveries } = openAlerts([rule, otherChannelRule], {
      channels: [
        { name: 'ops', type: 'webhook', url: `${server.url}/hook`, minSeverity: 'warning' },
        { name: 'other', type: 'webhook', url: `${server.url}/other` },
      ],
    });
    rule.result = [
      { subject: 'light', summary: 'light', since: null, severity: 'info' },
      { subject: 'heavy', summary: 'heavy', since: null, severity: 'critical' },
    ];
    otherChannelRule.result = ['n1'];
    await round();
    expect(deliveries()).toEqual(['firing heavy']);
  });

  it('receives the end of a sent alert although the rule names other channels or is disabled by then', async () => {
    const rule = scriptedRule({ channels: ['ops'] });
    const { alerts, round, deliveries, clock } = openAlerts(rule, {
      channels: [
        { name: 'ops', type: 'webhook', url: `${server.url}/hook` },
        { name: 'other', type: 'webhook', url: `${server.url}/other` },
      ],
    });
    const waiting = async () => {
      const rows = await alerts.sql`
        select channel, kind, body -> 'items' -> 0 ->> 'subject' as subject from recorder.alert_messages
        where state = 'waiting' order by id`;
      return rows.map(({ channel, kind, subject }) => `${channel}: ${kind} ${subject}`);
    };
    rule.result = ['n1', 'n2'];
    await round();
    const moved = { ...alerts, rules: [{ ...rule, channels: ['other'] }] };
    rule.result = ['n2'];
    clock.now += 30 * second;
    await runRound(moved, never);
    await deliver(alerts, 'ops', never);
    expect(deliveries()).toEqual(['firing n1 n2', 'resolved n1']);
    expect(await waiting()).toEqual(['other: resolved n1']);
    clock.now += 30 * second;
    await runRound({ ...alerts, rules: [] }, never);
    await deliver(alerts, 'ops', never);
    expect(deliveries()).toEqual(['firing n1 n2', 'resolved n1', 'unwatched n2']);
    expect(await waiting()).toEqual(['other: resolved n1']);
  });
});
