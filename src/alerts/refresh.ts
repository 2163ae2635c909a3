import { describeDeliveryError } from '../upstreams/deliver.ts';
import type { AlertChannel } from './channel.ts';
import type { AlertContext } from './context.ts';
import { createBody } from './message.ts';
import { openAlerts } from './open-alerts.ts';
import { type ChannelLease, findPendingAlerts, storeChannelFailure, storeChannelSuccess } from './outbox.ts';
import { getSeverityRank } from './state.ts';

/** Interval at which firing alerts are sent again to channels that expire them, in ms. */
export const REFRESH_INTERVAL_MS = 60_000;

/**
 * Sends the firing alerts again to a channel that expires them, if the interval is over.
 * Alerts with a pending message, for example during quiet hours, are excluded. Those sent before the quiet
 * hours are included, because the channel would resolve them otherwise.
 * @returns the error if the channel did not accept them; null otherwise
 */
export async function refreshIfDue(
  context: AlertContext,
  channel: AlertChannel,
  holding: ChannelLease,
  redact: (text: string) => string,
  signal: AbortSignal,
): Promise<string | null> {
  if (!channel.refresh) return null;
  const { sql, config, rules, sender, clock } = context;
  const { recorder, channel: name, holder } = holding;
  const least = config.channels.find((one) => one.name === name)?.minSeverity ?? 'info';
  const ofChannel = rules.filter(({ channels }) => channels === null || channels.includes(name));
  const untold = await findPendingAlerts(sql, holding);
  const open = (await openAlerts(sql, recorder)).filter(({ id }) => !untold.has(id));
  const firing = ofChannel.flatMap((rule) => {
    const alerts = open.filter(
      (one) =>
        one.rule === rule.name &&
        one.state === 'firing' &&
        getSeverityRank(one.severity) >= getSeverityRank(least),
    );
    if (alerts.length === 0) return [];
    return [createBody('firing', rule.name, rule.about, alerts, sender, new Date(clock()))];
  });
  if (firing.length === 0) return null;
  const rows = await sql`
    update recorder.alert_channels set refreshed_at = clock_timestamp()
    where recorder = ${recorder} and channel = ${name} and holder = ${holder}
      and (refreshed_at is null or abs(extract(epoch from clock_timestamp() - refreshed_at)) * 1000 >= ${REFRESH_INTERVAL_MS - 5_000})
    returning 1`;
  if (rows.length === 0) return null;
  try {
    await channel.refresh(firing, signal);
    await storeChannelSuccess(sql, holding);
    return null;
  } catch (error) {
    // A stop of the recorder is not a failure of the channel.
    if (signal.aborted) return null;
    const said = describeDeliveryError(error, redact);
    await storeChannelFailure(sql, holding, null, said, null);
    return said;
  }
}
