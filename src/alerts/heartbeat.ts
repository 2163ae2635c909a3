import type postgres from 'postgres';
import { HEARTBEAT_CHANNEL } from '../config/name-clashes.ts';
import { createRedactor } from '../lib/redaction.ts';
import { callChannel, describeDeliveryError } from '../upstreams/deliver.ts';
import type { AlertContext } from './context.ts';

/**
 * Duration of a channel's failure after which the heartbeat stops, in minutes. The missing heartbeat reports
 * that messages are not delivered.
 */
const MAX_FAILING_MINUTES = 15;

/**
 * Requests the URL of the dead man's switch, unless a channel has been failing for too long. Stores the
 * result.
 */
export async function sendHeartbeat(
  { sql, config, secrets, sender, log }: AlertContext,
  signal: AbortSignal,
): Promise<void> {
  if (config.heartbeat === undefined || (await hasFailingChannel(sql, sender.recorder))) return;
  let error: string | null = null;
  try {
    await callChannel({ url: secrets.fill(config.heartbeat) }, signal);
  } catch (failure) {
    error = describeDeliveryError(failure, createRedactor(secrets.values));
    log.warn({ cause: error }, 'the heartbeat could not be delivered');
  }
  await sql`
    insert into recorder.alert_channels as c (recorder, channel, failing_since, failures, error, sent_at)
    values (${sender.recorder}, ${HEARTBEAT_CHANNEL}, case when ${error}::text is not null then now() end, ${error === null ? 0 : 1}, ${error},
      case when ${error}::text is null then now() end)
    on conflict (recorder, channel) do update set error = excluded.error,
      failing_since = case when excluded.error is not null then coalesce(c.failing_since, now()) end,
      failures = case when excluded.error is not null then c.failures + 1 else 0 end,
      sent_at = coalesce(excluded.sent_at, c.sent_at)`;
}

async function hasFailingChannel(sql: postgres.Sql, recorder: string): Promise<boolean> {
  const rows = await sql`
    select 1 from recorder.alert_channels
    where recorder = ${recorder} and channel <> ${HEARTBEAT_CHANNEL} and failing_since < now() - make_interval(mins => ${MAX_FAILING_MINUTES})`;
  return rows.length > 0;
}
