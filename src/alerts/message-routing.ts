import type { ChannelConfig } from '../config/alerts-schema.ts';
import { inParts } from '../lib/chunk.ts';
import type { AlertContext } from './context.ts';
import type { Body } from './message.ts';
import { rankOf } from './state.ts';

/** Message of the outbox, with its channel. */
export interface Addressed {
  readonly channel: string;
  readonly body: Body;
}

/**
 * Maximum number of alerts in a message to PagerDuty. Each alert is one event, and PagerDuty may accept only
 * some of too many.
 */
const EVENTS_AT_ONCE = 20;

/**
 * Returns a body for each channel, with the alerts of sufficient severity. PagerDuty may get several bodies.
 * A resolved alert is also sent to every channel that received it, even if the current configuration excludes
 * it.
 * @param knows returns true if a channel received an alert
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

/**
 * Returns true if a channel receives messages of a kind. Some channels repeat open alerts themselves, and
 * only PagerDuty tracks acknowledgements.
 */
export function takes({ type }: ChannelConfig, kind: Body['kind']): boolean {
  if (kind === 'reminder') return type !== 'alertmanager' && type !== 'pagerduty';
  return kind !== 'acknowledged' || type === 'pagerduty';
}
