import type { ChannelConfig } from '../config/alerts-schema.ts';
import type { NamedSecrets } from '../config/named-secrets.ts';
import type { AlertMessage, MessageBody } from './message.ts';

/** Destination of messages. */
export interface AlertChannel {
  /**
   * Sends one message.
   * @throws DeliveryFailure if the channel did not accept the message
   */
  send(message: AlertMessage, signal: AbortSignal): Promise<void>;
  /**
   * Sends the firing alerts again, for channels that expire alerts. Absent if the channel stores alerts
   * permanently.
   * @throws DeliveryFailure if the channel did not accept the alerts
   */
  refresh?(firing: readonly MessageBody[], signal: AbortSignal): Promise<void>;
}

/** Factory of a channel from its settings, with secrets filled in. */
export type MakeChannel<Type extends ChannelConfig['type']> = (
  config: Extract<ChannelConfig, { type: Type }>,
) => AlertChannel;

/** Opens a channel. The module of the channel is loaded on demand. */
export async function openChannel(config: ChannelConfig, secrets: NamedSecrets): Promise<AlertChannel> {
  const filled = withSecrets(config, secrets);
  switch (filled.type) {
    case 'webhook':
      return (await import('./channels/webhook.ts')).webhook(filled);
    case 'slack':
      return (await import('./channels/slack.ts')).slack(filled);
    case 'discord':
      return (await import('./channels/discord.ts')).discord(filled);
    case 'telegram':
      return (await import('./channels/telegram.ts')).telegram(filled);
    case 'pagerduty':
      return (await import('./channels/pagerduty.ts')).pagerduty(filled);
    case 'ntfy':
      return (await import('./channels/ntfy.ts')).ntfy(filled);
    case 'alertmanager':
      return (await import('./channels/alertmanager.ts')).alertmanager(filled);
    case 'email':
      return (await import('./channels/email.ts')).email(filled);
  }
}

/** Replaces `${NAME}` in the settings by the values of the environment. */
function withSecrets<T>(value: T, secrets: NamedSecrets): T;
function withSecrets(value: unknown, secrets: NamedSecrets): unknown {
  if (typeof value === 'string') return secrets.fill(value);
  if (Array.isArray(value)) return value.map((inner) => withSecrets(inner, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withSecrets(inner, secrets)]),
  );
}
