import { randomUUID } from 'node:crypto';
import type { ChannelConfig } from '../config/alerts-schema.ts';
import { createRedactor } from '../lib/redaction.ts';
import { describeDeliveryError } from '../upstreams/deliver.ts';
import { DeliveryFailure } from '../upstreams/delivery-failure.ts';
import { openChannel } from './channel.ts';
import type { AlertContext } from './context.ts';
import type { AlertMessage } from './message.ts';

/**
 * Sends a test message immediately, without the outbox.
 * @returns the error without secrets; null if the channel accepted the message
 */
export async function sendTestMessage(
  { sender, secrets, clock }: Pick<AlertContext, 'sender' | 'secrets' | 'clock'>,
  settings: ChannelConfig,
  signal: AbortSignal,
): Promise<DeliveryFailure | null> {
  const at = new Date(clock()).toISOString();
  const message: AlertMessage = {
    kind: 'test',
    rule: 'test',
    about: 'A test message, sent by "alerts test".',
    severity: 'info',
    at,
    recorder: sender.recorder,
    network: sender.network,
    advice: 'None: the test message arrived.',
    runbook: sender.runbook,
    page: sender.publicUrl === null ? null : `${sender.publicUrl}/alerts`,
    items: [
      {
        alert: 0,
        subject: settings.name,
        severity: 'info',
        summary: `This is how alerts reach ${settings.name}`,
        since: null,
        firedAt: at,
        resolvedAt: null,
        flapping: false,
        details: null,
      },
    ],
    key: `${sender.recorder}/${settings.name}/test-${randomUUID()}`,
    maybeAgain: false,
  };
  try {
    const channel = await openChannel(settings, secrets);
    await channel.send(message, signal);
    return null;
  } catch (error) {
    const errorText = describeDeliveryError(error, createRedactor(secrets.values));
    return error instanceof DeliveryFailure
      ? new DeliveryFailure(error.kind, errorText, error)
      : new DeliveryFailure('down', errorText);
  }
}
