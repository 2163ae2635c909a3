import type postgres from 'postgres';
import { type Body, bodySchema } from './message.ts';

/** A worker that shows no sign of life for so long, in seconds, loses the channel to another one. A call takes less. */
export const LEASE_SECONDS = 30;
/** The longest pause between two attempts, ms. */
const LONGEST_PAUSE = 300_000;
const SHORTEST_PAUSE = 10_000;
/** Of a channel that failed so often in a row (some four days), what waited for so long, in days, helps nobody any more. */
const GIVEN_UP_AFTER = 1_000;
const STALE_DAYS = 7;

/** A message of the outbox that its holder is to send. */
export interface Waiting {
  readonly id: number;
  /** Null: another version wrote it in a form that this one cannot read. */
  readonly body: Body | null;
  /** An attempt before this one ended without a word: its process was killed, or stood still. */
  readonly maybeAgain: boolean;
}

/** The right to send to one channel of a recorder. */
export interface Holding {
  readonly recorder: string;
  readonly channel: string;
  readonly holder: number;
}

/**
 * Takes a channel, unless another worker has it, or it failed and is to be tried later.
 * @returns null: it is not to be had
 */
export async function holdChannel(
  sql: postgres.Sql,
  recorder: string,
  channel: string,
): Promise<Holding | null> {
  const [row] = await sql<{ holder: string }[]>`
    insert into recorder.alert_channels as c (recorder, channel, holder, lease_until)
    values (${recorder}, ${channel}, 1, now() + make_interval(secs => ${LEASE_SECONDS}))
    on conflict (recorder, channel) do update set holder = c.holder + 1, lease_until = excluded.lease_until
    where (c.lease_until is null or c.lease_until < now()
        -- So far ahead only a clock that was set back since can have put it.
        or c.lease_until > clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}))
      and (c.next_try_at is null or c.next_try_at <= now()
        or c.next_try_at > clock_timestamp() + make_interval(secs => ${LONGEST_PAUSE / 1000}))
    returning holder`;
  return row ? { recorder, channel, holder: Number(row.holder) } : null;
}

/**
 * Takes the first message that waits, and notes that it is being sent. While `quiet`, only what is critical is taken, and what
 * waits before it of the same rule, so that nothing is told before what came first.
 * @returns null: nothing waits, or the channel went to another worker
 */
export async function nextMessage(
  sql: postgres.Sql,
  { recorder, channel, holder }: Holding,
  quiet: boolean,
): Promise<Waiting | null> {
  const [row] = await sql<{ id: string; body: unknown; again: boolean }[]>`
    with fence as materialized (
      update recorder.alert_channels set lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
      where recorder = ${recorder} and channel = ${channel} and holder = ${holder} returning failures
    ),
    stale as (
      update recorder.alert_messages set state = 'dropped', error = ${`it waited for longer than ${STALE_DAYS} days`}
      from fence
      where recorder = ${recorder} and channel = ${channel} and state = 'waiting'
        and fence.failures >= ${GIVEN_UP_AFTER} and made_at < now() - make_interval(days => ${STALE_DAYS})
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

/** The alerts of which a channel is not told yet that they fire: the message waits. */
export async function untoldAlerts(
  sql: postgres.Sql,
  { recorder, channel }: Holding,
): Promise<ReadonlySet<number>> {
  const rows = await sql<{ alert: string }[]>`
    select distinct unnest(alerts) as alert from recorder.alert_messages
    where recorder = ${recorder} and channel = ${channel} and state = 'waiting' and kind = 'firing'`;
  return new Set(rows.map(({ alert }) => Number(alert)));
}

/** Finds out which channels were told, or wait to be told, that some alerts fire. */
export async function whoKnows(
  sql: postgres.Sql,
  recorder: string,
  alerts: readonly number[],
): Promise<(channel: string, alert: number) => boolean> {
  const rows =
    alerts.length === 0
      ? []
      : await sql<{ channel: string; alert: string }[]>`
          select m.channel, known.alert from recorder.alert_messages m, unnest(m.alerts) as known(alert)
          where m.recorder = ${recorder} and m.kind in ('firing', 'reminder') and known.alert = any(${[...alerts]}::bigint[])`;
  const known = new Set(rows.map(({ channel, alert }) => `${alert} ${channel}`));
  return (channel, alert) => known.has(`${alert} ${channel}`);
}

/** Notes that a message arrived. @returns false: the channel went to another worker meanwhile, which may send it again */
export async function noteSent(sql: postgres.Sql, holding: Holding, id: number): Promise<boolean> {
  const rows = await sql`
    with fence as materialized (
      ${answering(sql, holding, sql`, sent_at = clock_timestamp()`)} returning 1
    )
    update recorder.alert_messages set state = 'sent', sent_at = clock_timestamp(), sending_since = null, error = null
    from fence where id = ${id} returning 1`;
  return rows.length === 1;
}

/** Notes that a channel answers, of what is no message of the outbox. */
export async function noteAnswering(sql: postgres.Sql, holding: Holding): Promise<void> {
  await answering(sql, holding);
}

/** SQL: a channel answers, whatever it failed with before. @param more what else is set */
const answering = (sql: postgres.Sql, { recorder, channel, holder }: Holding, more = sql``) => sql`
  update recorder.alert_channels set failing_since = null, failures = 0, error = null, next_try_at = null,
    lease_until = now() + make_interval(secs => ${LEASE_SECONDS}) ${more}
  where recorder = ${recorder} and channel = ${channel} and holder = ${holder}`;

/** Notes that the channel refused a message: it is not sent again, and the next one has its turn. */
export async function noteRefused(
  sql: postgres.Sql,
  holding: Holding,
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
 * Notes that a channel does not answer, and gives it back: it is tried again after a pause that grows.
 * @param message what was being sent, and whether it may have arrived; null: something else
 * @param wait how long the channel asked us to stay away, ms; null: it did not
 */
export async function noteFailed(
  sql: postgres.Sql,
  { recorder, channel, holder }: Holding,
  message: { readonly id: number; readonly mayHaveArrived: boolean } | null,
  error: string,
  wait: number | null,
): Promise<void> {
  await sql`
    with fence as materialized (
      update recorder.alert_channels c set failing_since = coalesce(failing_since, now()), failures = failures + 1, error = ${error},
        lease_until = null, next_try_at = now() + make_interval(secs => least(${LONGEST_PAUSE}::float8,
          greatest(${wait ?? 0}::float8, ${SHORTEST_PAUSE} * power(2, least(failures, 10)))) / 1000)
      where recorder = ${recorder} and channel = ${channel} and holder = ${holder} returning 1
    )
    update recorder.alert_messages set error = ${error},
      sending_since = case when ${message?.mayHaveArrived ?? false} then sending_since end
    from fence where id = ${message?.id ?? null}`;
}

/** Gives a channel back. */
export async function releaseChannel(
  sql: postgres.Sql,
  { recorder, channel, holder }: Holding,
): Promise<void> {
  await sql`
    update recorder.alert_channels set lease_until = null
    where recorder = ${recorder} and channel = ${channel} and holder = ${holder}`;
}

/** The channels for which something waits that may be sent now. Forgets those that are not configured any more. */
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
