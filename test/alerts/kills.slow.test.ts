import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import {
  CHANNELS,
  type ChannelName,
  type ChannelStandIns,
  channelStandIns,
} from '../support/channel-stand-ins.ts';
import { withDatabase } from '../support/fixture.ts';

/** Run more kills by hand: KILLS=100 npx vitest run test/alerts/kills.slow.test.ts */
const KILLS = Number(process.env.KILLS ?? 8);

const { it, database, sql } = withDatabase({ max: 2 });
let standIns: ChannelStandIns;
const arrived = new EventEmitter();
const running = new Set<ChildProcess>();

beforeAll(async () => {
  await sql`create table public.ill (subject text primary key)`;
  // Long enough for a kill before or after the response.
  standIns = await channelStandIns(Date.now, { answerAfter: 10 });
  standIns.onMessage(() => arrived.emit('message'));
});
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await standIns.close();
});

function startSender(): ChildProcess {
  const program = resolve(import.meta.dirname, 'sender-process.ts');
  const config = JSON.stringify({ channels: standIns.channels });
  const child = spawn(process.execPath, ['--import', 'tsx', program, database.url, config], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...standIns.env },
  });
  running.add(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
  running.delete(child);
}

/** Waits until a channel has received a message. */
async function waitForMessage(channel: ChannelName, expected: string): Promise<void> {
  while (!standIns.messages[channel].some((one) => one.summary === expected)) await once(arrived, 'message');
}

/** The server has closed the sessions of a killed process, and its leases expire. */
async function expireLeases(): Promise<void> {
  const selectSenderSessions = () => sql`
    select pg_sleep(0.01) from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and application_name = 'sender'`;
  while ((await selectSenderSessions()).length > 0);
  await sql`update recorder.alert_rounds set lease_until = now()`;
  await sql`update recorder.alert_channels set lease_until = now()`;
}

it(
  `sends every channel every state in order across ${KILLS} kills of the sender, with marked duplicates only`,
  async () => {
    for (let number = 0; number < KILLS; number += 1) {
      const child = startSender();
      const subject = `n${number}`;
      // The kills alternate between channels and kinds of channels, before the response and at about its time.
      const channel = CHANNELS[number % CHANNELS.length] ?? 'webhook';
      await sql`insert into public.ill values (${subject})`;
      await waitForMessage(channel, `firing scripted: ${subject}`);
      if (Math.floor(number / CHANNELS.length) % 2 === 1) {
        await sql`delete from public.ill`;
        await waitForMessage(channel, `resolved scripted: ${subject}`);
      }
      if (number % 3 === 0) await sql`select pg_sleep(0.01)`;
      await kill(child);
      await sql`delete from public.ill`;
      await expireLeases();
    }
    // Messages of a channel are sent in order: once this one arrives, all earlier ones are stored as sent.
    await sql`insert into public.ill values ('end')`;
    const last = startSender();
    for (const channel of CHANNELS) await waitForMessage(channel, 'firing scripted: end');
    await kill(last);

    // Each subject was down once and up once, and before the next one.
    const expected = Array.from({ length: KILLS }, (_, number) => [
      `firing scripted: n${number}`,
      `resolved scripted: n${number}`,
    ]).flat();
    const repeats = Object.fromEntries(
      CHANNELS.map((channel) => {
        const messages = standIns.messages[channel].filter(
          ({ summary }) => summary !== 'firing scripted: end',
        );
        const firsts = messages.filter(
          ({ summary }, at) => messages.findIndex((one) => one.summary === summary) === at,
        );
        expect([channel, firsts.map(({ summary }) => summary)]).toEqual([channel, expected]);
        const duplicates = messages.filter(
          ({ summary }, at) => messages.findIndex((one) => one.summary === summary) < at,
        );
        expect([channel, duplicates.filter((one) => !one.again)]).toEqual([channel, []]);
        return [channel, duplicates.length];
      }),
    );
    expect(standIns.wrong).toEqual([]);
    // A channel that deduplicates by key shows a message once.
    expect(repeats).toMatchObject({ webhook: 0, email: 0, pagerduty: 0, alertmanager: 0 });
    const unsent = await sql`
      select m.channel, m.kind, m.state from recorder.alert_messages m join recorder.alerts a on a.id = m.alerts[1]
      where a.subject <> 'end' and m.state <> 'sent'`;
    expect([...unsent]).toEqual([]);
    console.log(
      `${expected.length} states to each of ${CHANNELS.length} channels; shown twice, and marked: ${JSON.stringify(repeats)}`,
    );
  },
  120_000 + 20_000 * KILLS,
);
