import type { ChannelConfig } from '../config/alerts-schema.ts';
import type { AlertContext } from './context.ts';
import type { Body } from './message.ts';
import { rankOf } from './state.ts';

/** A message of the outbox. */
export interface Addressed {
  readonly channel: string;
  readonly body: Body;
}

/** A body for each channel that is told of it, with the alerts that weigh enough there. */
export function addressed(
  { config, rules }: Pick<AlertContext, 'config' | 'rules'>,
  body: Body,
): Addressed[] {
  const named = rules.find(({ name }) => name === body.rule)?.channels ?? null;
  return config.channels.flatMap((channel) => {
    if ((named !== null && !named.includes(channel.name)) || !takes(channel, body.kind)) return [];
    const items = body.items.filter(({ severity }) => rankOf(severity) >= rankOf(channel.severity));
    return items.length === 0 ? [] : [{ channel: channel.name, body: { ...body, items } }];
  });
}

/** Whether a channel is told of a kind: some repeat what lasts themselves, and only PagerDuty knows who acknowledged. */
export function takes({ type }: ChannelConfig, kind: Body['kind']): boolean {
  if (kind === 'reminder') return type !== 'alertmanager' && type !== 'pagerduty';
  return kind !== 'acknowledged' || type === 'pagerduty';
}
