import { once } from 'node:events';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openChannel } from '../../src/alerts/channel.ts';
import type { AlertMessage } from '../../src/alerts/message.ts';
import { formatText } from '../../src/alerts/message-texts.ts';
import { sendTestMessage } from '../../src/alerts/send-test-message.ts';
import { collectTexts, readReferencedSecrets } from '../../src/config/named-secrets.ts';
import type { DeliveryFailure } from '../../src/upstreams/delivery-failure.ts';
import { alertsConfig } from '../support/alerts.ts';
import { type UpstreamServer, upstreamServer } from '../support/upstream-server.ts';

const never = new AbortController().signal;
const SECRET = 'correct-horse-battery';
const env = { THE_SECRET: SECRET };
const NAMED = ['$', '{THE_SECRET}'].join('');

let server: UpstreamServer;
let answer: { status: number; body: string | Buffer; headers?: Record<string, string> } = {
  status: 200,
  body: '',
};
beforeAll(async () => {
  server = await upstreamServer((_, response) =>
    response.writeHead(answer.status, answer.headers ?? {}).end(answer.body),
  );
});
afterAll(() => server.close());
afterEach(() => {
  answer = { status: 200, body: '' };
});

const message = (more: Partial<AlertMessage> = {}): AlertMessage => ({
  kind: 'firing',
  rule: 'node-down',
  about: 'A node is down.',
  severity: 'critical',
  at: '2026-11-01T00:05:00.000Z',
  recorder: 'recorder',
  network: 'mainnet',
  advice: 'Check the node.',
  runbook: 'https://wiki.example/recorder#node-down',
  page: null,
  items: [
    {
      alert: 17,
      subject: 'n1',
      severity: 'critical',
      summary: 'n1 is down: <!channel> "5 & 6" @everyone',
      since: '2026-11-01T00:00:00.000Z',
      firedAt: '2026-11-01T00:05:00.000Z',
      resolvedAt: null,
      flapping: false,
      details: { error: 'x' },
    },
  ],
  key: 'recorder/ops/1',
  maybeAgain: false,
  ...more,
});
const resolved = (): AlertMessage => {
  const firing = message({ kind: 'resolved', key: 'recorder/ops/2' });
  return {
    ...firing,
    items: firing.items.map((item) => ({ ...item, resolvedAt: '2026-11-01T00:09:00.000Z' })),
  };
};

/** Returns the single channel of a configuration. */
function channelOf(settings: object) {
  const { channels } = alertsConfig({ channels: [{ name: 'ops', ...settings }] });
  const [channel] = channels;
  if (!channel) throw new Error('no channel');
  return { channel, secrets: readReferencedSecrets(collectTexts(channels), env) };
}

/** Sends messages and returns the requests that the stand-in received. */
async function sendMessages(settings: object, ...messages: readonly AlertMessage[]) {
  const { channel, secrets } = channelOf(settings);
  const from = server.received.length;
  const opened = await openChannel(channel, secrets);
  for (const one of messages) await opened.send(one, never);
  return server.received.slice(from).map(({ method, url, headers, body }) => ({
    method,
    path: url.pathname + url.search,
    headers,
    body: JSON.parse(body),
  }));
}

const sendAndFail = async (settings: object): Promise<DeliveryFailure> => {
  const { channel, secrets } = channelOf(settings);
  const sender = { recorder: 'recorder', network: 'mainnet', runbook: null, publicUrl: null };
  const failure = await sendTestMessage({ sender, secrets, clock: Date.now }, channel, never);
  if (!failure) throw new Error('it was sent');
  return failure;
};

describe('a webhook', () => {
  it('receives the complete message, with its key and the configured headers', async () => {
    const headers = [{ name: 'Authorization', value: `Bearer ${NAMED}` }];
    const [request] = await sendMessages({ type: 'webhook', url: `${server.url}/hook`, headers }, message());
    expect(request).toMatchObject({ method: 'POST', path: '/hook' });
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'idempotency-key': 'recorder/ops/1',
      authorization: `Bearer ${SECRET}`,
    });
    expect(request?.body).toMatchObject({
      kind: 'firing',
      rule: 'node-down',
      title: '[FIRING] node-down: n1',
    });
    expect(request?.body.items[0]).toMatchObject({ alert: 17, subject: 'n1', details: { error: 'x' } });
  });

  it('receives a filled template whose texts are escaped for JSON', async () => {
    const body = '{"msg": "{{title}} – {{text}}", "whole": {{message}}}';
    const [request] = await sendMessages({ type: 'webhook', url: server.url, body }, message());
    expect(request?.body.msg).toContain('[FIRING] node-down: n1 – n1 is down: <!channel> "5 & 6" @everyone');
    expect(request?.body.whole.key).toBe('recorder/ops/1');
  });

  it('does not report a recovery of a subject that is no longer watched', async () => {
    const [request] = await sendMessages(
      { type: 'webhook', url: server.url },
      message({ kind: 'unwatched' }),
    );
    expect(request?.body).toMatchObject({ kind: 'unwatched', title: '[NO LONGER WATCHED] node-down: n1' });
    expect(request?.body.text).not.toMatch(/resolved/i);
  });

  it('states that a message can be a duplicate', async () => {
    const [request] = await sendMessages({ type: 'webhook', url: server.url }, message({ maybeAgain: true }));
    expect(request?.body).toMatchObject({
      maybe_again: true,
      text: expect.stringContaining('can be a duplicate'),
    });
  });
});

it('Slack and e-mail contain the node, the start, its message, the fix, the page and the runbook', async () => {
  const page = 'https://recorder.example/status/n1';
  const [request] = await sendMessages(
    { type: 'slack', url: `${server.url}/services/${NAMED}` },
    message({ page }),
  );
  const text = `n1 is down: <!channel> "5 & 6" @everyone (since 2026-11-01T00:00:00.000Z) [alert 17]

A node is down.
What to do: Check the node.
Page: https://recorder.example/status/n1
Runbook: https://wiki.example/recorder#node-down`;
  expect(formatText(message({ page }))).toBe(text);
  expect(request?.path).toBe(`/services/${SECRET}`);
  expect(request?.body.text).toBe(
    `*[FIRING] node-down: n1*\n${text.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')}`,
  );
});

it('Discord receives an embed without mentions, and its response is awaited', async () => {
  const [firing, resolution] = await sendMessages(
    { type: 'discord', url: `${server.url}/api/webhooks/1/${NAMED}` },
    message(),
    resolved(),
  );
  expect(firing?.path).toBe(`/api/webhooks/1/${SECRET}?wait=true`);
  expect(firing?.body).toMatchObject({
    allowed_mentions: { parse: [] },
    embeds: [
      { title: '[FIRING] node-down: n1', color: 0xd32f2f, url: 'https://wiki.example/recorder#node-down' },
    ],
  });
  expect(resolution?.body.embeds[0]).toMatchObject({ title: '[RESOLVED] node-down: n1', color: 0x388e3c });
});

it('Telegram receives plain text for a chat', async () => {
  const settings = { type: 'telegram', url: server.url, token: NAMED, chat: -100123 };
  const [request] = await sendMessages(settings, message());
  expect(request?.path).toBe(`/bot${SECRET}/sendMessage`);
  expect(request?.body).toMatchObject({ chat_id: -100123, link_preview_options: { is_disabled: true } });
  expect(request?.body.text.length).toBeLessThanOrEqual(4_096);
  expect(request?.body).not.toHaveProperty('parse_mode');
  answer = { status: 400, body: '{"ok":false,"description":"Bad Request: chat not found"}' };
  expect(await sendAndFail(settings)).toMatchObject({ kind: 'down' });
});

it('PagerDuty receives an event per alert, and the resolution with the same key', async () => {
  const settings = { type: 'pagerduty', url: server.url, key: NAMED };
  const events = await sendMessages(settings, message(), message({ kind: 'acknowledged' }), resolved());
  expect(events.map(({ path }) => path)).toEqual(['/v2/enqueue', '/v2/enqueue', '/v2/enqueue']);
  expect(events.map(({ body }) => [body.event_action, body.dedup_key, body.routing_key])).toEqual(
    ['trigger', 'acknowledge', 'resolve'].map((action) => [
      action,
      'chain-recorder/recorder/17/2026-11-01T00:05:00.000Z',
      SECRET,
    ]),
  );
  expect(events[0]?.body.payload).toMatchObject({
    severity: 'critical',
    class: 'node-down',
    component: 'n1',
  });
  expect(events[0]?.body.links).toEqual([
    { href: 'https://wiki.example/recorder#node-down', text: 'What to do' },
  ]);
  answer = { status: 400, body: '{"status":"invalid event","errors":["Invalid routing key"]}' };
  expect(await sendAndFail(settings)).toMatchObject({ kind: 'down' });
});

it('ntfy receives JSON with a priority, of at most 4,096 bytes', async () => {
  const long = message();
  const items = long.items.map((item) => ({ ...item, summary: 'ü'.repeat(5_000) }));
  const settings = { type: 'ntfy', url: server.url, topic: 'ops', token: NAMED };
  const [request] = await sendMessages(settings, { ...long, items });
  expect(request?.headers.authorization).toBe(`Bearer ${SECRET}`);
  expect(request?.body).toMatchObject({
    topic: 'ops',
    priority: 5,
    click: 'https://wiki.example/recorder#node-down',
  });
  expect(Buffer.byteLength(request?.body.message)).toBeLessThanOrEqual(4_096);
});

it('Alertmanager receives alerts of its API v2 and their end, with times of its own clock', async () => {
  const settings = { type: 'alertmanager', url: server.url };
  // The message was queued for a quarter of an hour.
  answer = { status: 200, body: '', headers: { date: 'Sun, 01 Nov 2026 00:20:00 GMT' } };
  const calls = await sendMessages(settings, message(), resolved());
  const [firing, resolution] = calls.filter(({ body }) => body.length > 0);
  expect(firing?.path).toBe('/api/v2/alerts');
  const labels = {
    alertname: 'node-down',
    severity: 'critical',
    subject: 'n1',
    recorder: 'recorder',
    network: 'mainnet',
  };
  expect(firing?.body).toMatchObject([
    { labels, startsAt: '2026-11-01T00:05:00.000Z', endsAt: '2026-11-01T00:25:00.000Z' },
  ]);
  expect(resolution?.body).toMatchObject([{ labels, endsAt: '2026-11-01T00:09:00.000Z' }]);
  // An Alertmanager whose clock is ahead ends nothing later; one whose clock is behind starts nothing after its end.
  answer = { status: 200, body: '', headers: { date: 'Sun, 01 Nov 2026 00:02:00 GMT' } };
  const [, early] = await sendMessages(settings, resolved());
  const instant = '2026-11-01T00:02:00.000Z';
  expect(early?.body).toMatchObject([{ labels, startsAt: instant, endsAt: instant }]);
});

describe('a failed delivery', () => {
  it.each<[number, string]>([
    [400, 'refused'],
    [413, 'too-large'],
    [401, 'down'],
    [404, 'down'],
    [302, 'down'],
    [429, 'down'],
    [503, 'down'],
  ])('reports HTTP %i without secrets: %s', async (status, kind) => {
    answer = { status, body: `no: ${SECRET}`, headers: { 'retry-after': '7', location: `/x?${SECRET}` } };
    const failure = await sendAndFail({ type: 'slack', url: `${server.url}/services/${NAMED}` });
    expect(failure).toMatchObject({ kind, wait: status === 429 ? 7_000 : null });
    expect(failure.message).toContain(`HTTP ${status}: no: [redacted]`);
    expect(failure.message).not.toContain(SECRET);
  });

  it.each([
    ['7', 7_000],
    ['7s', 7_000],
    ['Sun, 01 Nov 2026 00:02:07 GMT', 7_000],
    ['1793491327', 7_000],
    ['86400', 300_000],
    ['soon', null],
  ])('keeps a pause until %s', async (pause, wait) => {
    const date = 'Sun, 01 Nov 2026 00:02:00 GMT';
    answer = { status: 429, body: '', headers: { date, 'retry-after': pause } };
    const failure = await sendAndFail({ type: 'slack', url: `${server.url}/services/${NAMED}` });
    expect(failure).toMatchObject({ kind: 'down', wait });
  });

  it.each([
    ['far too long', 'x'.repeat(300_000)],
    ['no text', Buffer.from([0xff, 0xfe, 0x00])],
  ])('counts an accepted message as delivered, whatever the response contains: %s', async (_, body) => {
    answer = { status: 200, body };
    const { channel, secrets } = channelOf({ type: 'webhook', url: server.url });
    const sender = { recorder: 'recorder', network: 'mainnet', runbook: null, publicUrl: null };
    expect(await sendTestMessage({ sender, secrets, clock: Date.now }, channel, never)).toBe(null);
  });

  it('leaves no part of a secret where the text is truncated', async () => {
    answer = { status: 503, body: `${'x'.repeat(190)}${SECRET}` };
    const failure = await sendAndFail({ type: 'slack', url: `${server.url}/services/${NAMED}` });
    expect(failure.message).not.toContain(SECRET.slice(0, 3));
    expect(failure.message.length).toBeLessThanOrEqual(200);
  });

  it('is not accepted by a server that is unreachable', async () => {
    const failure = await sendAndFail({ type: 'webhook', url: 'http://127.0.0.1:9' });
    expect(failure).toMatchObject({ kind: 'down', mayHaveArrived: false });
  });
});

describe('e-mail', () => {
  /** An SMTP server that keeps the received messages. */
  async function mailServer(more: { refuse?: boolean; acceptedRecipient?: string } = {}) {
    const mails: { from: string; to: string[]; text: string; user: string }[] = [];
    const smtp = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      logger: false,
      onAuth: ({ username, password }, _session, done) =>
        password === SECRET ? done(null, { user: username }) : done(new Error(`535 not ${password}`)),
      onRcptTo: ({ address }, _session, done) =>
        more.acceptedRecipient === undefined || more.acceptedRecipient === address
          ? done()
          : done(Object.assign(new Error('no such recipient'), { responseCode: 550 })),
      onData: (stream, session, done) => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        void text(stream).then((content) => {
          if (more.refuse) return done(Object.assign(new Error('no spam here'), { responseCode: 554 }));
          mails.push({
            from,
            to: rcptTo.map(({ address }) => address),
            text: content,
            user: String(session.user ?? ''),
          });
          done();
        });
      },
    });
    await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve));
    const address = smtp.server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    return { mails, port, close: () => new Promise<void>((resolve) => smtp.close(() => resolve())) };
  }
  const settings = (port: number, more: object = {}) => ({
    ...{ type: 'email', host: '127.0.0.1', port, from: 'Recorder <recorder@example.com>' },
    ...{ to: ['ann@example.com', 'bob@example.com'], ...more },
  });

  it('delivers once by SMTP, with the same Message-ID at each attempt', async () => {
    const mail = await mailServer();
    const { channel, secrets } = channelOf(settings(mail.port, { user: 'recorder', password: NAMED }));
    const opened = await openChannel(channel, secrets);
    await opened.send(message(), never);
    await opened.send(message(), never);
    await opened.send(resolved(), never);
    await mail.close();
    expect(mail.mails.map(({ from, to, user }) => ({ from, to, user }))).toEqual(
      [1, 2, 3].map(() => ({
        from: 'recorder@example.com',
        to: ['ann@example.com', 'bob@example.com'],
        user: 'recorder',
      })),
    );
    const ids = mail.mails.map((mailText) => /^Message-ID: (.*)$/im.exec(mailText.text)?.[1]);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[0]);
    expect(mail.mails[0]?.text).toMatch(/^Subject: \[FIRING\] node-down: n1$/m);
    // A long line continues after `=`.
    const mailText = mail.mails[0]?.text.replaceAll('=\r\n', '');
    expect(mailText).toContain(
      'What to do: Check the node.\r\nRunbook: https://wiki.example/recorder#node-down',
    );
  });

  it('reports the rejected recipients if the server accepts only some, and is not sent again', async () => {
    const mail = await mailServer({ acceptedRecipient: 'ann@example.com' });
    const failure = await sendAndFail(settings(mail.port));
    expect(mail.mails.map(({ to }) => to)).toEqual([['ann@example.com']]);
    await mail.close();
    expect(failure).toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(/^sent, but not to bob@example\.com: .*no such recipient/),
    });
  });

  it('gives up at its deadline, though the server keeps sending', async () => {
    const stop = new AbortController();
    let hungUp: Promise<unknown> = Promise.resolve();
    const server = createServer((socket) => {
      hungUp = once(socket, 'close');
      socket.on('error', () => {});
      socket.write('220 mail.example.com\r\n');
      socket.once('data', () => {
        const timer = setInterval(() => socket.write('250-and something else\r\n'), 100);
        socket.once('close', () => clearInterval(timer));
        stop.abort();
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = z.object({ port: z.number() }).parse(server.address());
    const { channel, secrets } = channelOf(settings(port));
    const opened = await openChannel(channel, secrets);
    await expect(opened.send(message(), stop.signal)).rejects.toMatchObject({ kind: 'down' });
    await hungUp;
    server.close();
  });

  it('is refused by the server, and a rejected password is reported without its value', async () => {
    const mail = await mailServer({ refuse: true });
    expect(await sendAndFail(settings(mail.port))).toMatchObject({ kind: 'refused' });
    const rejected = channelOf(settings(mail.port, { user: 'recorder', password: NAMED }));
    const secrets = readReferencedSecrets(collectTexts(rejected.channel), { THE_SECRET: 'another-secret' });
    const sender = { recorder: 'recorder', network: 'mainnet', runbook: null, publicUrl: null };
    const failure = await sendTestMessage({ sender, secrets, clock: Date.now }, rejected.channel, never);
    expect(failure).toMatchObject({ kind: 'down', mayHaveArrived: false });
    expect(failure?.message).not.toContain('another-secret');
    await mail.close();
  });
});
