import { callChannel } from '../../upstreams/deliver.ts';
import { DeliveryFailure } from '../../upstreams/delivery-failure.ts';
import type { MakeChannel } from '../channel.ts';
import type { Item, Message } from '../message.ts';
import { cut, linkOf } from '../message-texts.ts';

/** Maximum number of concurrent events. */
const AT_ONCE = 10;
const ACTIONS: Readonly<Record<Message['kind'], string>> = {
  firing: 'trigger',
  reminder: 'trigger',
  test: 'trigger',
  resolved: 'resolve',
  acknowledged: 'acknowledge',
};

/**
 * Channel for PagerDuty's Events API v2: one event per alert. The deduplication key makes a repeated event
 * the same incident.
 */
export const pagerduty: MakeChannel<'pagerduty'> = ({ url, key }) => {
  const enqueue = `${url.replace(/\/$/, '')}/v2/enqueue`;
  const post = async (event: object, signal: AbortSignal) => {
    try {
      await callChannel({ url: enqueue, body: { routing_key: key, ...event } }, signal);
    } catch (error) {
      // The key is wrong, not the event: the configuration must be corrected.
      if (error instanceof DeliveryFailure && /routing.?key/i.test(error.message))
        throw new DeliveryFailure('down', error.message);
      throw error;
    }
  };
  return {
    send: async (message, signal) => {
      for (let at = 0; at < message.items.length; at += AT_ONCE)
        await Promise.all(
          message.items.slice(at, at + AT_ONCE).map((item) => post(eventOf(message, item), signal)),
        );
      // Resolves a test alert at once, so that it does not wake anyone.
      for (const item of message.kind === 'test' ? message.items : [])
        await post({ event_action: 'resolve', dedup_key: dedupKey(message, item) }, signal);
    },
  };
};

const dedupKey = ({ recorder, kind, key }: Message, { alert }: Item) =>
  kind === 'test' ? cut(key, 255) : `chain-recorder/${recorder}/${alert}`;

function eventOf(message: Message, item: Item): object {
  const { kind, rule, recorder, network } = message;
  const action = ACTIONS[kind];
  const event = { event_action: action, dedup_key: dedupKey(message, item) };
  if (action !== 'trigger') return event;
  const link = linkOf(message);
  return {
    ...event,
    client: 'chain-recorder',
    links: link === null ? [] : [{ href: link, text: 'What to do' }],
    payload: {
      summary: cut(`${rule}: ${item.summary}`, 1_024),
      source: `${network} ${recorder}`,
      severity: item.severity,
      timestamp: item.firedAt ?? message.at,
      component: cut(item.subject, 250),
      class: rule,
      custom_details: { since: item.since, details: item.details, about: message.about },
    },
  };
}
