import { callChannel } from '../../upstreams/deliver.ts';
import { DeliveryFailure } from '../../upstreams/delivery-failure.ts';
import type { MakeChannel } from '../channel.ts';
import type { AlertItem, AlertMessage } from '../message.ts';
import { truncate } from '../message-texts.ts';

/** Maximum number of concurrent events. */
const MAX_CONCURRENT_EVENTS = 10;
const ACTIONS: Readonly<Record<AlertMessage['kind'], string>> = {
  firing: 'trigger',
  reminder: 'trigger',
  test: 'trigger',
  resolved: 'resolve',
  unwatched: 'resolve',
  acknowledged: 'acknowledge',
};

/**
 * Channel for PagerDuty's Events API v2, with one event per alert. PagerDuty assigns a repeated event to the
 * same incident, by the deduplication key.
 */
export const pagerduty: MakeChannel<'pagerduty'> = ({ url, key }) => {
  const enqueue = `${url.replace(/\/$/, '')}/v2/enqueue`;
  const post = async (event: object, signal: AbortSignal) => {
    try {
      await callChannel({ url: enqueue, body: { routing_key: key, ...event } }, signal);
    } catch (error) {
      // The configured key is invalid, not the event. The failure lasts until the configuration is corrected.
      if (error instanceof DeliveryFailure && /routing.?key/i.test(error.message))
        throw new DeliveryFailure('down', error.message);
      throw error;
    }
  };
  return {
    send: async (message, signal) => {
      for (let at = 0; at < message.items.length; at += MAX_CONCURRENT_EVENTS)
        await Promise.all(
          message.items
            .slice(at, at + MAX_CONCURRENT_EVENTS)
            .map((item) => post(eventOf(message, item), signal)),
        );
      // Resolves a test alert at once, so that it does not wake anyone.
      for (const item of message.kind === 'test' ? message.items : [])
        await post({ event_action: 'resolve', dedup_key: dedupKey(message, item) }, signal);
    },
  };
};

/** Returns the key of an incident. A restored database assigns ids again, so that an id alone is not unique. */
const dedupKey = ({ recorder, kind, key }: AlertMessage, { alert, firedAt }: AlertItem) =>
  kind === 'test' ? truncate(key, 255) : `chain-recorder/${recorder}/${alert}/${firedAt}`;

function eventOf(message: AlertMessage, item: AlertItem): object {
  const { kind, rule, recorder, network, runbook } = message;
  const action = ACTIONS[kind];
  const event = { event_action: action, dedup_key: dedupKey(message, item) };
  if (action !== 'trigger') return event;
  return {
    ...event,
    client: 'chain-recorder',
    ...(message.page !== null && { client_url: message.page }),
    links: runbook === null ? [] : [{ href: runbook, text: 'What to do' }],
    payload: {
      summary: truncate(`${rule}: ${item.summary}`, 1_024),
      source: `${network} ${recorder}`,
      severity: item.severity,
      timestamp: item.firedAt ?? message.at,
      component: truncate(item.subject, 250),
      class: rule,
      custom_details: { since: item.since, details: item.details, about: message.about },
    },
  };
}
