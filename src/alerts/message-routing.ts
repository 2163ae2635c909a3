import type { ChannelConfig } from '../config/alerts-schema.ts';
import { inParts } from '../lib/chunk.ts';
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

/**
 * A body for each channel that is told of it (of PagerDuty maybe several), with the alerts that weigh enough there. That an alert is over
 * is told besides to whoever was told of it, whatever the configuration says by now.
 * @param knows whether a channel was told of an alert
 */
export function addressed(
  { config, rules }: Pick<AlertContext, 'config' | 'rules'>,
  body: Body,
  knows: (channel: string, alert: number) => boolean,
): Addressed[] {
  const rule = rules.find(({ name }) => name === body.rule);
  return config.channels
    .filter((channel) => takes(channel, body.kind))
    .flatMap((channel) => {
      const isNamed = rule !== undefined && (rule.channels?.includes(channel.name) ?? true);
      const items = body.items.filter(
        ({ alert, severity }) =>
          (isNamed && rankOf(severity) >= rankOf(channel.severity)) ||
          (body.kind === 'resolved' && knows(channel.name, alert)),
      );
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
