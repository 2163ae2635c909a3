import type { ChannelConfig } from '../config/alerts-schema.ts';
import { splitIntoChunks } from '../lib/chunk.ts';
import type { AlertContext } from './context.ts';
import type { MessageBody } from './message.ts';
import { getSeverityRank, isEnd } from './state.ts';

/** Message of the outbox, with its channel. */
export interface RoutedMessage {
  readonly channel: string;
  readonly body: MessageBody;
}

/**
 * Maximum number of alerts in a message to PagerDuty. Each alert is one event, and PagerDuty may reject some
 * events of a larger message.
 */
const MAX_PAGERDUTY_ALERTS = 20;

/**
 * Returns a body for each channel, with the alerts of sufficient severity. PagerDuty may get several bodies.
 * The end of an alert is also sent to every channel that received the alert, even if the current
 * configuration excludes the channel.
 * @param hasReceived returns true if a channel received an alert
 */
export function routeMessage(
  { config, rules }: Pick<AlertContext, 'config' | 'rules'>,
  body: MessageBody,
  hasReceived: (channel: string, alert: number) => boolean,
): RoutedMessage[] {
  const rule = rules.find(({ name }) => name === body.rule);
  return config.channels
    .filter((channel) => receivesKind(channel, body.kind))
    .flatMap((channel) => {
      const isNamed = rule !== undefined && (rule.channels?.includes(channel.name) ?? true);
      const items = body.items.filter(
        ({ alert, severity }) =>
          (isNamed && getSeverityRank(severity) >= getSeverityRank(channel.minSeverity)) ||
          (isEnd(body.kind) && hasReceived(channel.name, alert)),
      );
      return splitIntoChunks(items, channel.type === 'pagerduty' ? MAX_PAGERDUTY_ALERTS : items.length).map(
        (part) => ({
          channel: channel.name,
          body: { ...body, items: part },
        }),
      );
    });
}

/**
 * Returns true if a channel receives messages of a kind. Some channels repeat open alerts themselves, and
 * only PagerDuty tracks acknowledgements.
 */
export function receivesKind({ type }: ChannelConfig, kind: MessageBody['kind']): boolean {
  if (kind === 'reminder') return type !== 'alertmanager' && type !== 'pagerduty';
  return kind !== 'acknowledged' || type === 'pagerduty';
}
