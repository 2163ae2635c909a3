import type { ChannelConfig } from '../config/alerts-schema.ts';
import { inParts } from '../in-parts.ts';
import type { AlertContext } from './context.ts';
import type { Body } from './message.ts';
import { rankOf } from './state.ts';

/** A message of the outbox. */
export interface Addressed {
  readonly channel: string;
  readonly body: Body;
}

/** The most alerts of a message to PagerDuty, which gets an event for each and may take only some of too many. */
const EVENTS_AT_ONCE = 20;

/** A body for each channel that is told of it (of PagerDuty maybe several), with the alerts that weigh enough there. */
export function addressed(
  { config, rules }: Pick<AlertContext, 'config' | 'rules'>,
  body: Body,
): Addressed[] {
  const named = rules.find(({ name }) => name === body.rule)?.channels ?? null;
  return config.channels.flatMap((channel) => {
    if ((named !== null && !named.includes(channel.name)) || !takes(channel, body.kind)) return [];
    const items = body.items.filter(({ severity }) => rankOf(severity) >= rankOf(channel.severity));
    return inParts(items, channel.type === 'pagerduty' ? EVENTS_AT_ONCE : items.length).map((part) => ({
      channel: channel.name,
      body: { ...body, items: part },
    }));
  });
}

/** Whether a channel is told of a kind: some repeat what lasts themselves, and only PagerDuty knows who acknowledged. */
export function takes({ type }: ChannelConfig, kind: Body['kind']): boolean {
  if (kind === 'reminder') return type !== 'alertmanager' && type !== 'pagerduty';
  return kind !== 'acknowledged' || type === 'pagerduty';
}
