import type postgres from 'postgres';
import type { ChannelConfig } from '../config/alerts-schema.ts';
import { bodySchema, type MessageBody } from './message.ts';

/**
 * Length of the lease of a channel, in s. After this time without renewal, another worker takes the channel
 * over. A request takes less time.
 */
export const OUTBOX_LEASE_SECONDS = 30;
/** Maximum backoff between two attempts, in ms. */
const MAX_BACKOFF_MS = 300_000;

/** Minimum backoff between two attempts, in ms. */
const MIN_BACKOFF_MS = 10_000;
/** Number of consecutive failures of a channel (about four days) after which its old messages are dropped. */
const MAX_FAILURES = 1_000;
/** Age from which a message is dropped after {@link MAX_FAILURES} failures of its channel, in days. */
const STALE_DAYS = 7;

/** Message of the outbox that the holder of its channel must send. */
export interface PendingMessage {
  readonly id: number;
  /**
   * Body of the message; null if another version wrote the message in a form that this version cannot read.
   */
  readonly body: MessageBody | null;
  /** True if the result of an earlier attempt is unknown, because its process was killed or stalled. */
  readonly maybeAgain: boolean;
}

/** Lease of one channel of a recorder. */
export interface ChannelLease {
  readonly recorder: string;
  readonly channel: string;
  readonly holder: number;
}

/**
 * Acquires the lease of a channel, unless another worker holds the lease, or a retry is not due yet.
 * @returns null if the lease is not available
 */
export async function acquireChannel(
  sql: postgres.Sql,
  recorder: string,
  channel: string,
): Promise<ChannelLease | null> {
  const [row] = await sql<{ holder: string }[]>`
    insert into recorder.alert_channels as c (recorder, channel, holder, lease_until)
    values (${recorder}, ${channel}, 1, now() + make_interval(secs => ${OUTBOX_LEASE_SECONDS}))
    on conflict (recorder, channel) do update set holder = c.holder + 1, lease_until = excluded.lease_until
    where (c.lease_until is null or c.lease_until < now()
        -- A lease that ends later than this was set before the clock was set back.
        or c.lease_until > clock_timestamp() + make_interval(secs => ${OUTBOX_LEASE_SECONDS}))
      and (c.next_try_at is null or c.next_try_at <= now()
        or c.next_try_at > clock_timestamp() + make_interval(secs => ${MAX_BACKOFF_MS / 1000}))
    returning holder`;
  return row ? { recorder, channel, holder: Number(row.holder) } : null;
}

/**
 * Returns the first pending message and marks it as being sent. During quiet hours, only critical messages
 * and the earlier messages of their rules are sent, so that the order is kept.
 * @returns null if no message is pending, or another worker took the channel over
 */
export async function nextMessage(
  sql: postgres.Sql,
  { recorder, channel, holder }: ChannelLease,
  quiet: boolean,
): Promise<PendingMessage | null> {
  const [row] = await sql<{ id: string; body: unknown; again: boolean }[]>`
    with fence as materialized (
      update recorder.alert_channels set lease_until = now() + make_interval(secs => ${OUTBOX_LEASE_SECONDS})
      where recorder = ${recorder} and channel = ${channel} and holder = ${holder} returning failures
    ),
    stale as (
      update recorder.alert_messages set state = 'dropped', error = ${`it waited for longer than ${STALE_DAYS} days`}
      from fence
      where recorder = ${recorder} and channel = ${channel} and state = 'waiting'
        and fence.failures >= ${MAX_FAILURES} and made_at < now() - make_interval(days => ${STALE_DAYS})
      returning id
    ),
    first as (
      select m.id, m.sending_since is not null as again
      from fence, recorder.alert_messages m
      where m.recorder = ${recorder} and m.channel = ${channel} and m.state = 'waiting'
        and m.id not in (select id from stale)
        and (not ${quiet} or m.rule in (
          select u.rule from recorder.alert_messages u
          where u.recorder = ${recorder} and u.channel = ${channel} and u.state = 'waiting' and u.severity = 'critical'))
      order by m.id limit 1
    )
    update recorder.alert_messages m set attempts = m.attempts + 1, sending_since = clock_timestamp()
    from first where m.id = first.id returning m.id, m.body, first.again`;
  return row
    ? { id: Number(row.id), body: bodySchema.safeParse(row.body).data ?? null, maybeAgain: row.again }
    : null;
}

/** Returns the firing alerts whose message to a channel is still pending. */
export async function findPendingAlerts(
  sql: postgres.Sql,
  { recorder, channel }: ChannelLease,
): Promise<ReadonlySet<number>> {
  const rows = await sql<{ alert: string }[]>`
    select distinct unnest(alerts) as alert from recorder.alert_messages
    where recorder = ${recorder} and channel = ${channel} and state = 'waiting' and kind = 'firing'`;
  return new Set(rows.map(({ alert }) => Number(alert)));
}

/** Returns the configured channels without a state, which no earlier round has notified. */
export async function findAddedChannels(
  sql: postgres.Sql,
  recorder: string,
  channels: readonly ChannelConfig[],
): Promise<ChannelConfig[]> {
  const rows = await sql<{ channel: string }[]>`
    select channel from recorder.alert_channels where recorder = ${recorder}`;
  return channels.filter(({ name }) => rows.every(({ channel }) => channel !== name));
}

/** Finds the channels that received, or will receive, the firing message of some alerts. */
export async function findNotifiedChannels(
  sql: postgres.Sql,
  recorder: string,
  alerts: readonly number[],
): Promise<(channel: string, alert: number) => boolean> {
  const rows =
    alerts.length === 0
      ? []
      : await sql<{ channel: string; alert: string }[]>`
          select m.channel, notified.alert from recorder.alert_messages m, unnest(m.alerts) as notified(alert)
          where m.recorder = ${recorder} and m.kind in ('firing', 'reminder') and notified.alert = any(${[...alerts]}::bigint[])`;
  const notified = new Set(rows.map(({ channel, alert }) => `${alert} ${channel}`));
  return (channel, alert) => notified.has(`${alert} ${channel}`);
}

/**
 * Stores the delivery of a message.
 * @returns false if another worker took the channel over meanwhile; that worker may send the message again
 */
export async function storeSent(sql: postgres.Sql, holding: ChannelLease, id: number): Promise<boolean> {
  const rows = await sql`
    with fence as materialized (
      ${answering(sql, holding, sql`, sent_at = clock_timestamp()`)} returning 1
    )
    update recorder.alert_messages set state = 'sent', sent_at = clock_timestamp(), sending_since = null, error = null
    from fence where id = ${id} returning 1`;
  return rows.length === 1;
}

/** Stores a successful request to a channel that was not for a message of the outbox. */
export async function storeChannelSuccess(sql: postgres.Sql, holding: ChannelLease): Promise<void> {
  await answering(sql, holding);
}

/**
 * Returns the SQL statement that resets the failures of a channel after a response.
 * @param more additional assignments
 */
const answering = (sql: postgres.Sql, { recorder, channel, holder }: ChannelLease, more = sql``) => sql`
  update recorder.alert_channels set failing_since = null, failures = 0, error = null, next_try_at = null,
    lease_until = now() + make_interval(secs => ${OUTBOX_LEASE_SECONDS}) ${more}
  where recorder = ${recorder} and channel = ${channel} and holder = ${holder}`;

/** Stores that the channel rejected a message. The message is not retried, and the next message follows. */
export async function storeRejected(
  sql: postgres.Sql,
  holding: ChannelLease,
  id: number,
  error: string,
): Promise<void> {
  await sql`
    with fence as materialized (
      ${answering(sql, holding)} returning 1
    )
    update recorder.alert_messages set state = 'refused', sending_since = null, error = ${error} from fence where id = ${id}`;
}

/**
 * Stores a failed request and releases the lease. The next attempt follows after an exponential backoff.
 * @param message the message, and whether it may have arrived; null for other requests
 * @param wait delay that the channel requested, in ms; null if no delay was requested
 */
export async function storeChannelFailure(
  sql: postgres.Sql,
  { recorder, channel, holder }: ChannelLease,
  message: { readonly id: number; readonly mayHaveArrived: boolean } | null,
  error: string,
  wait: number | null,
): Promise<void> {
  await sql`
    with fence as materialized (
      update recorder.alert_channels c set failing_since = coalesce(failing_since, now()), failures = failures + 1, error = ${error},
        lease_until = null, next_try_at = now() + make_interval(secs => least(${MAX_BACKOFF_MS}::float8,
          greatest(${wait ?? 0}::float8, ${MIN_BACKOFF_MS} * power(2, least(failures, 10)))) / 1000)
      where recorder = ${recorder} and channel = ${channel} and holder = ${holder} returning 1
    )
    update recorder.alert_messages set error = ${error},
      sending_since = case when ${message?.mayHaveArrived ?? false} then sending_since end
    from fence where id = ${message?.id ?? null}`;
}

/** Releases the lease of a channel. */
export async function releaseChannel(
  sql: postgres.Sql,
  { recorder, channel, holder }: ChannelLease,
): Promise<void> {
  await sql`
    update recorder.alert_channels set lease_until = null
    where recorder = ${recorder} and channel = ${channel} and holder = ${holder}`;
}

/**
 * Returns the channels with pending messages. Deletes the state of channels that are no longer configured,
 * and drops their messages.
 */
export async function dueChannels(
  sql: postgres.Sql,
  recorder: string,
  channels: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ channel: string }[]>`
    with forgotten as (
      delete from recorder.alert_channels where recorder = ${recorder} and channel <> all(${[...channels]}::text[])
        and channel <> 'heartbeat'
    ),
    dropped as (
      update recorder.alert_messages set state = 'dropped', error = 'the channel is not configured any more'
      where recorder = ${recorder} and state = 'waiting' and channel <> all(${[...channels]}::text[])
    )
    select distinct channel from recorder.alert_messages
    where recorder = ${recorder} and state = 'waiting' and channel = any(${[...channels]}::text[]) order by channel`;
  return rows.map(({ channel }) => channel);
}
