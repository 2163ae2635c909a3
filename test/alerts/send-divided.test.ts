import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sendDivided } from '../../src/alerts/deliver.ts';
import type { AlertMessage } from '../../src/alerts/message.ts';
import { formatText } from '../../src/alerts/message-texts.ts';
import { alertsSchema } from '../../src/config/alerts-schema.ts';
import { DeliveryFailure } from '../../src/upstreams/delivery-failure.ts';

const message = (summaries: readonly string[]): AlertMessage => ({
  kind: 'firing',
  rule: 'node-down',
  about: 'About.',
  severity: 'critical',
  at: '2026-11-22T00:00:00.000Z',
  recorder: 'recorder',
  network: 'mainnet',
  advice: 'Check the node.',
  runbook: 'https://docs.example/alerts#node-down',
  page: null,
  items: summaries.map((summary, at) => ({
    ...{ alert: at + 1, subject: `node ${at}`, severity: 'critical' as const, summary },
    ...{ since: null, firedAt: null, resolvedAt: null, flapping: false, details: 'd'.repeat(500) },
  })),
  key: 'recorder/ops/1',
  maybeAgain: false,
});
const signal = new AbortController().signal;

/** A channel with a maximum number of characters of JSON. */
function channelWithLimit(limit: number) {
  const accepted: AlertMessage[] = [];
  const send = async (one: AlertMessage) => {
    if (JSON.stringify(one).length > limit) throw new DeliveryFailure('too-large', 'HTTP 413');
    accepted.push(one);
  };
  return { channel: { send }, accepted };
}

it('delivers every alert once and in order, whatever message size a channel accepts', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ maxLength: 3_000 }), { minLength: 1, maxLength: 200 }),
      fc.integer({ min: 1_500, max: 60_000 }),
      async (summaries, limit) => {
        const { channel, accepted } = channelWithLimit(limit);
        await sendDivided(channel, message(summaries), signal);
        expect(accepted.flatMap(({ items }) => items.map(({ alert }) => alert))).toEqual(
          summaries.map((_, at) => at + 1),
        );
        expect(new Set(accepted.map(({ key }) => key)).size).toBe(accepted.length);
      },
    ),
    { numRuns: 50 },
  );
});

it('rejects an alert that a channel accepts at no size, and throws failures of other kinds', async () => {
  await expect(sendDivided(channelWithLimit(10).channel, message(['a', 'b']), signal)).rejects.toMatchObject({
    kind: 'refused',
  });
  const down = { send: () => Promise.reject(new DeliveryFailure('down', 'HTTP 500')) };
  await expect(sendDivided(down, message(['a', 'b']), signal)).rejects.toMatchObject({ kind: 'down' });
});

it('keeps the limit of a text, the fix, and the link to the rest', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 3_000 }), { minLength: 1, maxLength: 100 }),
      fc.integer({ min: 600, max: 5_000 }),
      (summaries, maxLength) => {
        const text = formatText(message(summaries), maxLength);
        expect(text.length).toBeLessThanOrEqual(maxLength);
        expect(text).toContain('What to do: Check the node.\nRunbook: https://docs.example/alerts#node-down');
        if (summaries.length > 20) expect(text).toMatch(/… and \d+ more: the page \/alerts/);
      },
    ),
  );
});

it.each([
  ['{"text": "{{title}}"}', true],
  ['{"all": {{message}}, "key": "{{key}}"}', true],
  ['{"text": {{title}}}', false],
  ['{"all": "{{message}}"}', false],
  ['{"text": "{{title}}"', false],
  ['{{title}}', false],
  ['', false],
])('fills a template %j that remains valid JSON: %j', (body, valid) => {
  const { success, error } = alertsSchema({}).safeParse({
    channels: [{ name: 'ops', type: 'webhook', url: 'https://example.org/hook', body }],
  });
  expect(success, String(error)).toBe(valid);
});
