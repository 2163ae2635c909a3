import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';
import type { Clock } from '../../src/lib/clock.ts';
import { type Received, sendJson, upstreamServer } from './upstream-server.ts';

/** The kinds of channels, each as a channel of that name. */
export const CHANNELS = [
  'webhook',
  'slack',
  'discord',
  'telegram',
  'email',
  'pagerduty',
  'ntfy',
  'alertmanager',
] as const;
export type ChannelName = (typeof CHANNELS)[number];

/** A message as a reader of a channel gets it: `firing rule: subject subject`. */
export interface ChannelMessage {
  readonly summary: string;
  /** The message states that it can be a duplicate. */
  readonly again: boolean;
}

/** Stand-ins of all channels: they implement the protocols, know the secrets, and keep their messages. */
export interface ChannelStandIns {
  /** Channels as recorder.yaml has them, with secrets from {@link env}. */
  readonly channels: readonly { readonly name: ChannelName }[];
  readonly env: Readonly<Record<string, string>>;
  readonly messages: Readonly<Record<ChannelName, readonly ChannelMessage[]>>;
  /** Invalid requests: a wrong secret, a text that is too long, a call of another form. */
  readonly wrong: readonly string[];
  /** Channels that are down: they respond with an error, and with every secret that they received. */
  readonly down: Set<ChannelName>;
  /** Alertmanager compares ends with its own clock. */
  resolveExpiredAlerts(): void;
  /** Called when a channel has accepted something, before it responds. */
  onMessage(listener: (channel: ChannelName, message: ChannelMessage) => void): void;
  close(): Promise<void>;
}

const SECRETS: Readonly<Record<ChannelName, string>> = {
  webhook: 'canary-webhook-1f0c',
  slack: 'canary-slack-27ab',
  discord: 'canary-discord-39d1',
  telegram: 'canary-telegram-4be8',
  email: 'canary-email-5c02',
  pagerduty: 'canary-pagerduty-6f7e',
  ntfy: 'canary-ntfy-7a90',
  alertmanager: 'canary-alertmanager-8d3b',
};
const secretReference = (name: ChannelName) => ['$', `{SECRET_${name.toUpperCase()}}`].join('');

/** Returns the event of a title. */
const HEADS: Readonly<Record<string, string>> = {
  FIRING: 'firing',
  RESOLVED: 'resolved',
  'STILL FIRING': 'reminder',
};

/** Returns the message of a text for people. Subjects are the words before `is ill`, one a line. */
function read(title: string, body: string): ChannelMessage {
  const [, head = '', rule = '', first = '', , more = '0'] =
    /^\[([A-Z ]+)\] ([\w-]+): (\S+)( and (\d+) more)?$/.exec(title) ?? [];
  const subjects = [...body.matchAll(/^(?:Resolved: )?(\S+) is ill/gm)].map(([, subject]) => subject);
  const whole = subjects.length === Number(more) + 1 && subjects[0] === first;
  return {
    summary: whole
      ? `${HEADS[head] ?? title} ${rule}: ${subjects.join(' ')}`
      : `cannot be read: ${title}\n${body}`,
    again: body.includes('this message can be a duplicate'),
  };
}

/** Ends of the alerts of an Alertmanager, by their labels. */
type ActiveAlerts = Map<string, { readonly summary: string; endsAt: number }>;

/** @param clock the true time, which Alertmanager uses @param answerAfter delay of responses, ms */
export async function channelStandIns(clock: Clock, { answerAfter = 0 } = {}): Promise<ChannelStandIns> {
  const messages: Record<ChannelName, ChannelMessage[]> = {
    ...{
      webhook: [],
      slack: [],
      discord: [],
      telegram: [],
      email: [],
      pagerduty: [],
      ntfy: [],
      alertmanager: [],
    },
  };
  const wrong: string[] = [];
  const down = new Set<ChannelName>();
  const listeners: ((channel: ChannelName, message: ChannelMessage) => void)[] = [];
  const deliver = (channel: ChannelName, one: ChannelMessage) => {
    messages[channel].push(one);
    for (const listener of listeners) listener(channel, one);
  };
  const check = (fits: boolean, what: string) => {
    if (!fits) wrong.push(what);
  };

  const keys = new Set<string>();
  const incidents = new Map<string, { readonly summary: string; acknowledged: boolean }>();
  const activeAlerts: ActiveAlerts = new Map();

  /** Processes a call by kind of channel. @returns its response */
  const handlers: Readonly<Record<Exclude<ChannelName, 'email'>, (call: Received) => [number, unknown]>> = {
    webhook: ({ headers, body }) => {
      check(headers.authorization === `Bearer ${SECRETS.webhook}`, 'webhook: the secret');
      const key = String(headers['idempotency-key']);
      const { title, text: messageText, maybe_again } = JSON.parse(body);
      // Channels with a key drop duplicates.
      if (!keys.has(key)) deliver('webhook', { ...read(title, messageText), again: false });
      else check(maybe_again === true, 'webhook: a key twice, without a mark');
      keys.add(key);
      return [204, undefined];
    },
    slack: ({ url, body }) => {
      check(url.pathname === `/slack/services/${SECRETS.slack}`, 'slack: the secret');
      const [title = '', ...lines] = String(JSON.parse(body).text).split('\n');
      deliver('slack', read(title.replaceAll('*', ''), lines.join('\n')));
      return [200, 'ok'];
    },
    discord: ({ url, body }) => {
      check(url.pathname === `/discord/api/webhooks/1/${SECRETS.discord}`, 'discord: the secret');
      const [embed] = JSON.parse(body).embeds;
      check(embed.title.length <= 256 && embed.description.length <= 4_096, 'discord: too long');
      deliver('discord', read(embed.title, embed.description));
      return [url.searchParams.get('wait') === 'true' ? 200 : 204, { id: '1' }];
    },
    telegram: ({ url, body }) => {
      check(url.pathname === `/telegram/bot${SECRETS.telegram}/sendMessage`, 'telegram: the secret');
      const { chat_id, text: messageText } = JSON.parse(body);
      check(chat_id === -100 && messageText.length <= 4_096, 'telegram: the chat, or too long');
      const [title = '', ...lines] = messageText.split('\n');
      deliver('telegram', read(title, lines.join('\n')));
      return [200, { ok: true, result: { message_id: 1 } }];
    },
    ntfy: ({ headers, body }) => {
      check(headers.authorization === `Bearer ${SECRETS.ntfy}`, 'ntfy: the secret');
      const { topic, title, message } = JSON.parse(body);
      check(topic === 'ops' && Buffer.byteLength(message) <= 4_096, 'ntfy: the topic, or too long');
      deliver('ntfy', read(title, message));
      return [200, { id: '1', event: 'message' }];
    },
    pagerduty: ({ body }) => {
      const { routing_key, event_action, dedup_key, payload } = JSON.parse(body);
      check(routing_key === SECRETS.pagerduty, 'pagerduty: the secret');
      const incident = incidents.get(dedup_key);
      if (event_action === 'trigger' && !incident) {
        const summary = `${payload.class}: ${payload.component}`;
        incidents.set(dedup_key, { summary, acknowledged: false });
        deliver('pagerduty', { summary: `firing ${summary}`, again: false });
      }
      if (event_action === 'acknowledge' && incident && !incident.acknowledged) {
        incident.acknowledged = true;
        deliver('pagerduty', { summary: `acknowledged ${incident.summary}`, again: false });
      }
      if (event_action === 'resolve' && incident) {
        incidents.delete(dedup_key);
        deliver('pagerduty', { summary: `resolved ${incident.summary}`, again: false });
      }
      return [202, { status: 'success', dedup_key }];
    },
    alertmanager: ({ headers, url, body }) => {
      check(headers.authorization === `Bearer ${SECRETS.alertmanager}`, 'alertmanager: the secret');
      check(url.pathname === '/alertmanager/api/v2/alerts', 'alertmanager: the path');
      const alerts: { labels: Record<string, string>; startsAt: string; endsAt: string }[] = JSON.parse(body);
      for (const { labels, startsAt, endsAt } of alerts) {
        if (Date.parse(endsAt) < Date.parse(startsAt)) {
          wrong.push('alertmanager: an end before its start');
          return [400, 'start time must be before end time'];
        }
        hold(labels, Date.parse(endsAt));
      }
      resolveExpired();
      return [200, ''];
    },
  };
  const hold = (labels: Record<string, string>, endsAt: number) => {
    const key = JSON.stringify(labels);
    const one = activeAlerts.get(key);
    const summary = `${labels.alertname}: ${labels.subject}`;
    if (one) one.endsAt = endsAt;
    else if (endsAt > clock()) {
      activeAlerts.set(key, { summary, endsAt });
      deliver('alertmanager', { summary: `firing ${summary}`, again: false });
    }
  };
  /** Alerts that ended by its own clock are resolved, with or without a message. */
  const resolveExpired = () => {
    for (const [key, { summary, endsAt }] of activeAlerts)
      if (endsAt <= clock()) {
        activeAlerts.delete(key);
        deliver('alertmanager', { summary: `resolved ${summary}`, again: false });
      }
  };

  const server = await upstreamServer(async (call, response: ServerResponse) => {
    const name = CHANNELS.find((one) => call.url.pathname.split('/')[1] === one);
    response.sendDate = false;
    response.setHeader('date', new Date(clock()).toUTCString());
    if (name === undefined || name === 'email') return response.writeHead(404).end();
    if (down.has(name)) {
      const echo = `${call.url.href} ${JSON.stringify(call.headers)} ${call.body.slice(0, 200)}`;
      return response.writeHead(503).end(`out of order: ${echo}`);
    }
    const [status, answer] = handlers[name](call);
    await delay(answerAfter);
    if (answer === undefined) response.writeHead(status).end();
    else sendJson(response, answer, status);
  });

  const mails = new Set<string>();
  const smtp = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    logger: false,
    onAuth: ({ username, password }, _session, done) => {
      check(password === SECRETS.email, 'email: the secret');
      done(null, { user: username });
    },
    onData: (stream, _session, done) => {
      void text(stream).then((mail) => {
        if (down.has('email'))
          return done(
            Object.assign(new Error(`try later, recorder ${SECRETS.email}`), { responseCode: 451 }),
          );
        const [head = '', ...rest] = mail.split('\r\n\r\n');
        const unfolded = head.replaceAll('\r\n ', ' ');
        const id = /^Message-ID: (.*)$/im.exec(unfolded)?.[1] ?? '';
        const subject = /^Subject: (.*)$/im.exec(unfolded)?.[1] ?? '';
        const body = rest.join('\n\n').replaceAll('=\r\n', '').replaceAll('\r\n', '\n');
        // Many servers keep a message of the same id once.
        if (!mails.has(id)) deliver('email', { ...read(subject, body), again: false });
        mails.add(id);
        setTimeout(done, answerAfter);
      }, done);
    },
  });
  smtp.on('error', () => {}); // a killed sender closes the connection at any time
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve));
  const address = smtp.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;

  const bearer = (name: ChannelName) => [{ name: 'Authorization', value: `Bearer ${secretReference(name)}` }];
  const base = server.url;
  return {
    channels: [
      { name: 'webhook', ...{ type: 'webhook', url: `${base}/webhook`, headers: bearer('webhook') } },
      { name: 'slack', ...{ type: 'slack', url: `${base}/slack/services/${secretReference('slack')}` } },
      {
        name: 'discord',
        ...{ type: 'discord', url: `${base}/discord/api/webhooks/1/${secretReference('discord')}` },
      },
      {
        name: 'telegram',
        ...{ type: 'telegram', url: `${base}/telegram`, token: secretReference('telegram'), chat: -100 },
      },
      {
        name: 'email',
        ...{ type: 'email', host: '127.0.0.1', port, user: 'recorder', password: secretReference('email') },
        ...{ from: 'recorder@example.com', to: ['ann@example.com'] },
      },
      {
        name: 'pagerduty',
        ...{ type: 'pagerduty', url: `${base}/pagerduty`, key: secretReference('pagerduty') },
      },
      {
        name: 'ntfy',
        ...{ type: 'ntfy', url: `${base}/ntfy`, topic: 'ops', token: secretReference('ntfy') },
      },
      {
        name: 'alertmanager',
        ...{ type: 'alertmanager', url: `${base}/alertmanager`, headers: bearer('alertmanager') },
      },
    ],
    env: Object.fromEntries(CHANNELS.map((name) => [`SECRET_${name.toUpperCase()}`, SECRETS[name]])),
    messages,
    wrong,
    down,
    resolveExpiredAlerts: () => {
      if (!down.has('alertmanager')) resolveExpired();
    },
    onMessage: (listener) => listeners.push(listener),
    close: async () => {
      await server.close();
      await new Promise<void>((resolve) => smtp.close(() => resolve()));
    },
  };
}
