import { pino } from 'pino';
import { afterAll, beforeAll, expect } from 'vitest';
import { acknowledge } from '../../src/alerts/acknowledge.ts';
import { createAlertJobs } from '../../src/daemon/alert-work.ts';
import { deliverJob } from '../../src/jobs/jobs.ts';
import { openBackend } from '../../src/jobs/open-backend.ts';
import { scriptedRule, type TestAlerts, testAlerts } from '../support/alerts.ts';
import {
  CHANNELS,
  type ChannelName,
  type ChannelStandIns,
  channelStandIns,
} from '../support/channel-stand-ins.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import { createRandom } from '../support/random.ts';

/** All times of the script are minutes since its start. A round runs every four minutes while something happens. */
const ROUND = 4;
const HOUR = 60;
const DAY = 24 * HOUR;
const DAYS = 30;
const MINUTE = 60_000;
const start = Date.UTC(2026, 5, 1);
const never = new AbortController().signal;

/** Delays of the rules of the script, in minutes. */
const RULES = {
  down: { severity: 'critical', for: 8, clear: 8, repeatInterval: 120 },
  late: { severity: 'warning', for: 0, clear: 0, repeatInterval: 120 },
  note: { severity: 'info', for: 0, clear: 0, repeatInterval: 10_000 },
} as const;
type RuleName = keyof typeof RULES;

/** A subject is down from one time to another. */
interface Episode {
  readonly rule: RuleName;
  readonly subject: string;
  readonly from: number;
  readonly to: number;
  /** Time of the acknowledgement. */
  readonly acknowledged?: number;
}

const day = (number: number, hour: number, minute = 0) => number * DAY + hour * HOUR + minute;

const random = createRandom(20_260_601);
const onGrid = (minutes: number) => Math.round(minutes / ROUND) * ROUND;

/** Once a day one, two or three subjects at once, for four minutes to an hour. */
function createOrdinaryEpisodes(): Episode[] {
  return Array.from({ length: DAYS }, (_, at) => {
    const rule = (['down', 'late', 'note'] as const)[Math.floor(random() * 3)] ?? 'late';
    const from = day(at, 1) + onGrid(random() * 5 * HOUR);
    const duration = ROUND + onGrid(random() * 56);
    return Array.from({ length: 1 + Math.floor(random() * 3) }, (__, one) => ({
      ...{ rule, subject: `n${at % 9}-${one}`, from, to: from + duration + one * ROUND },
    }));
  }).flat();
}

/** Day on which a channel is down from ten to eleven. */
const downDay = (channel: ChannelName) => 3 + CHANNELS.indexOf(channel);

/** Episodes that start while a channel is down, and end meanwhile or later. */
const whileDown = CHANNELS.flatMap((channel): Episode[] => {
  const at = downDay(channel);
  return [
    { rule: 'late', subject: `${channel}-1`, from: day(at, 10, 8), to: day(at, 10, 40) },
    { rule: 'down', subject: `${channel}-2`, from: day(at, 10, 12), to: day(at, 11, 20) },
    { rule: 'late', subject: `${channel}-3`, from: day(at, 10, 20), to: day(at, 10, 40) },
    { rule: 'late', subject: `${channel}-4`, from: day(at, 11, 12), to: day(at, 11, 32) },
  ];
});

/** Offsets of the clocks of the two workers, in minutes, from one time to another. */
const jumps = [
  { day: 14, from: day(14, 10), to: day(14, 11), offsets: [DAY, DAY] },
  { day: 16, from: day(16, 10), to: day(16, 11), offsets: [-DAY, -DAY] },
  { day: 18, from: day(18, 10), to: day(18, 12), offsets: [0, 10] },
] as const;

/** Episodes that continue before, during and after a clock jump. */
const whileJumping = jumps.flatMap(({ day: at }): Episode[] => [
  { rule: 'late', subject: `jump${at}-1`, from: day(at, 9, 40), to: day(at, 11, 4) },
  { rule: 'late', subject: `jump${at}-2`, from: day(at, 10, 12), to: day(at, 10, 32) },
  { rule: 'late', subject: `jump${at}-3`, from: day(at, 10, 20), to: day(at, 11, 40) },
  { rule: 'late', subject: `jump${at}-4`, from: day(at, 9, 48), to: day(at, 10, 28) },
]);

const long: readonly Episode[] = [
  {
    ...{ rule: 'down', subject: 'known', from: day(20, 10), to: day(20, 14) },
    acknowledged: day(20, 12, 20),
  },
  { rule: 'late', subject: 'lasting', from: day(21, 8), to: day(21, 12, 32) },
];

/** This episode flaps: its expected messages are written by hand. */
const flapping: readonly Episode[] = [
  [0, 8],
  [16, 24],
  [32, 40],
  [44, 48],
].map(([from = 0, to = 0]) => ({
  ...{ rule: 'late', subject: 'flapping', from: day(22, 10, from), to: day(22, 10, to) },
}));

interface ExpectedMessage {
  readonly at: number;
  readonly kind: 'firing' | 'resolved' | 'reminder' | 'acknowledged';
  readonly rule: RuleName;
  readonly subject: string;
}

/** Returns the expected messages of an episode, by the documentation of the rules alone. */
function expectedMessages({
  rule,
  subject,
  from,
  to,
  acknowledged = Number.POSITIVE_INFINITY,
}: Episode): ExpectedMessage[] {
  const { for: delay, clear, repeatInterval } = RULES[rule];
  const firesAt = from + delay;
  if (firesAt >= to) return [];
  const messages: ExpectedMessage[] = [{ at: firesAt, kind: 'firing', rule, subject }];
  for (let at = firesAt + repeatInterval; at < Math.min(to, acknowledged); at += repeatInterval)
    messages.push({ at, kind: 'reminder', rule, subject });
  if (acknowledged < to) messages.push({ at: acknowledged, kind: 'acknowledged', rule, subject });
  return [...messages, { at: to + clear, kind: 'resolved', rule, subject }];
}

const flappingMessage = (minute: number, kind: ExpectedMessage['kind']): ExpectedMessage => ({
  ...{ at: day(22, 10, minute), kind, rule: 'late', subject: 'flapping' },
});

/** The expected list of a channel: the times, each with its messages in any order. */
function expectedOfChannel(channel: ChannelName, all: readonly ExpectedMessage[]): string[][] {
  const isPerAlert = channel === 'pagerduty' || channel === 'alertmanager';
  const received = all.flatMap((one): ExpectedMessage[] => {
    if (channel === 'email' && one.rule !== 'down') return []; // it accepts critical alerts only
    if (one.kind === 'reminder') return isPerAlert ? [] : [one];
    if (one.kind === 'acknowledged') return channel === 'pagerduty' ? [one] : [];
    if (one.kind === 'resolved' && one.rule === 'note')
      // An event has no end message; Alertmanager expires it in the next round.
      return channel === 'alertmanager' ? [{ ...one, at: one.at + ROUND }] : [];
    return [one];
  });
  const moments = [...new Set(received.map(({ at }) => at))].sort((one, other) => one - other);
  return moments.map((moment) => {
    const then = received.filter(({ at }) => at === moment);
    const messages = new Map<string, string[]>();
    for (const { kind, rule, subject } of then) {
      const head = `${kind} ${rule}:`;
      // Channels that count alerts receive each one separately.
      const key = isPerAlert ? `${head} ${subject}` : head;
      messages.set(key, [...(messages.get(key) ?? []), subject]);
    }
    return [...messages]
      .map(([head, subjects]) => (isPerAlert ? head : `${head} ${subjects.sort().join(' ')}`))
      .sort();
  });
}

/** The messages that a channel received, split into as many as each time of the expected list has. */
function splitByMoment(messages: readonly string[], expected: readonly (readonly string[])[]): string[][] {
  let at = 0;
  const groups = expected.map(({ length }) => {
    at += length;
    return messages.slice(at - length, at).sort();
  });
  return at < messages.length ? [...groups, messages.slice(at)] : groups;
}

const sortSubjects = (message: string) => {
  const [head = '', subjects = ''] = message.split(': ');
  return `${head}: ${subjects.split(' ').sort().join(' ')}`;
};

const { it, database } = withDatabase();
let standIns: ChannelStandIns;
/** The true time. */
const truth = new ManualClock(start);
beforeAll(async () => {
  standIns = await channelStandIns(truth.read);
});
afterAll(async () => {
  await standIns.close();
});

/** The content of all schemas of the database, as text. */
async function dumpDatabase({ sql }: TestAlerts): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`;
  const texts: string[] = [];
  for (const { name } of tables) {
    const [row] = await sql.unsafe<{ all: string | null }[]>(
      `select string_agg(t::text, E'\\n') as all from ${name} t`,
    );
    texts.push(row?.all ?? '');
  }
  return texts.join('\n');
}

it('sends every kind of channel the expected messages of a month, without a secret', async () => {
  const episodes = [...createOrdinaryEpisodes(), ...whileDown, ...whileJumping, ...long, ...flapping];
  const expected = [
    ...episodes.filter(({ subject }) => subject !== 'flapping').flatMap(expectedMessages),
    // The third start within an hour is reported once more; the alert ends only half an hour after the last end.
    ...[
      flappingMessage(0, 'firing'),
      flappingMessage(8, 'resolved'),
      flappingMessage(16, 'firing'),
      flappingMessage(24, 'resolved'),
    ],
    ...[flappingMessage(32, 'firing'), flappingMessage(80, 'resolved')],
  ];
  const rules = (['down', 'late', 'note'] as const).map((name) => {
    const { severity, for: delay, clear, repeatInterval } = RULES[name];
    return scriptedRule({
      ...{
        name,
        severity,
        for: delay * MINUTE,
        clear: clear * MINUTE,
        repeatInterval: repeatInterval * MINUTE,
      },
      ...{ every: ROUND * MINUTE, ...(name === 'note' && { event: true as const }) },
    });
  });
  const channels = standIns.channels.map((one) =>
    one.name === 'email' ? { ...one, minSeverity: 'critical' } : one,
  );
  const workers = [new ManualClock(start), new ManualClock(start)].map((clock) => ({
    clock,
    alerts: testAlerts(
      database.url,
      clock,
      { channels, every: `${ROUND}m` },
      { rules, env: { ...standIns.env } },
    ),
  }));
  const [first] = workers;
  if (!first) throw new Error('no worker');
  const { sql } = first.alerts;
  const hasActivity = (at: number) =>
    episodes.some(({ from, to }) => at >= from - ROUND && at <= to + 44) ||
    CHANNELS.some(
      (name) => at >= downDay(name) * DAY + 10 * HOUR - ROUND && at <= downDay(name) * DAY + 12 * HOUR,
    );

  let [rounds, last, dumps] = [0, 0, 0];
  let leaked: string[] = [];
  const findSecrets = (text: string) => Object.values(standIns.env).filter((secret) => text.includes(secret));
  for (let at = 0; at < DAYS * DAY; at += ROUND) {
    if (!hasActivity(at)) continue;
    truth.now = start + at * MINUTE;
    const jump = jumps.find(({ from, to }) => at >= from && at < to);
    for (const [number, { clock }] of workers.entries())
      clock.now = truth.now + (jump?.offsets[number] ?? 0) * MINUTE;
    // Changes of the database's clock meanwhile.
    await sql`update recorder.alert_channels set next_try_at = next_try_at - make_interval(mins => ${at - last}),
      refreshed_at = refreshed_at - make_interval(mins => ${at - last}), failing_since = failing_since - make_interval(mins => ${at - last})`;
    last = at;
    standIns.down.clear();
    const down = CHANNELS.find((name) => at >= day(downDay(name), 10) && at < day(downDay(name), 11));
    if (down) standIns.down.add(down);
    for (const rule of rules)
      rule.result = episodes
        .filter((one) => one.rule === rule.name && at >= one.from && at < one.to)
        .map(({ subject }) => subject);
    for (const { subject } of episodes.filter(({ acknowledged }) => acknowledged === at)) {
      const [row] = await sql<
        { id: string }[]
      >`select id::text from reporting.alerts where subject = ${subject}`;
      expect(await acknowledge(first.alerts, Number(row?.id), { by: 'ann', note: null })).toBe(true);
    }
    const jobs = workers.map(({ alerts }) => createAlertJobs(alerts));
    const channelNames = await Promise.all(jobs.map((job) => job.round(never)));
    await Promise.all(
      [...new Set(channelNames.flat())].flatMap((name) => jobs.map((work) => work.deliver(name, never))),
    );
    standIns.resolveExpiredAlerts();
    rounds += 1;
    if (down && at === day(downDay(down), 10, 56)) {
      const [row] = await sql<{ error: string }[]>`
        select error from recorder.alert_channels where channel = ${down} and failing_since < now() - interval '30 minutes'`;
      expect([down, row?.error]).toEqual([down, expect.any(String)]);
      leaked = [...leaked, ...findSecrets(await dumpDatabase(first.alerts))];
      dumps += 1;
    }
  }

  const received = Object.fromEntries(
    CHANNELS.map((name) => {
      const lists = expectedOfChannel(name, expected);
      return [
        name,
        splitByMoment(
          standIns.messages[name].map(({ summary }) => sortSubjects(summary)),
          lists,
        ),
      ];
    }),
  );
  expect(received).toEqual(
    Object.fromEntries(CHANNELS.map((name) => [name, expectedOfChannel(name, expected)])),
  );
  expect(standIns.wrong).toEqual([]);
  const unsent = await sql`select channel, kind, state from recorder.alert_messages where state <> 'sent'`;
  expect([...unsent]).toEqual([]);

  const backend = await openBackend(
    { redisUrl: undefined, databaseUrl: database.url },
    pino({ level: 'silent' }),
    never,
  );
  const queue = await backend.queue('polls');
  for (const name of CHANNELS) {
    const { name: job, data, opts } = deliverJob(name);
    await queue.add(job, data, opts);
  }
  leaked = [...leaked, ...findSecrets(await dumpDatabase(first.alerts))];
  leaked = [...leaked, ...findSecrets(workers.flatMap(({ alerts }) => alerts.lines).join('\n'))];
  expect(leaked).toEqual([]);
  await queue.close();
  await backend.close();
  for (const { alerts } of workers) await alerts.close();
  const counts = CHANNELS.map((name) => `${name} ${standIns.messages[name].length}`);
  console.log(
    `${rounds} rounds of two workers, ${episodes.length} episodes; messages: ${counts.join(', ')}; ${dumps + 1} comparisons of all rows of the database`,
  );
}, 600_000);
