import type postgres from 'postgres';
import type { AlertContext } from './context.ts';
import { createBody } from './message.ts';
import { receivesKind } from './message-routing.ts';
import { openAlerts } from './open-alerts.ts';

/** Author and note of an acknowledgement. */
export interface Acknowledgement {
  readonly by: string | null;
  readonly note: string | null;
}

/**
 * Stores the acknowledgement of an alert. Reminders stop, and channels that track acknowledgements receive a
 * message.
 * @returns false if there is no such firing alert, or the alert is already acknowledged
 */
export async function acknowledge(
  { sql, config, rules, sender, clock }: Pick<AlertContext, 'sql' | 'config' | 'rules' | 'sender' | 'clock'>,
  id: number,
  { by, note }: Acknowledgement,
): Promise<boolean> {
  const now = new Date(clock());
  const alert = (await openAlerts(sql, sender.recorder)).find(
    (one) => one.id === id && one.state === 'firing',
  );
  if (!alert || alert.acknowledged) return false;
  const rule = rules.find(({ name }) => name === alert.rule);
  const body = createBody('acknowledged', alert.rule, rule?.about ?? '', [alert], sender, now);
  const channels = config.channels
    .filter(
      (channel) => receivesKind(channel, 'acknowledged') && (rule?.channels?.includes(channel.name) ?? true),
    )
    .map(({ name }) => name);
  const rows = await write(sql, { id, by, note, now, channels, body, recorder: sender.recorder });
  return rows > 0;
}

async function write(
  sql: postgres.Sql,
  one: {
    readonly id: number;
    readonly by: string | null;
    readonly note: string | null;
    readonly now: Date;
    readonly channels: readonly string[];
    readonly body: ReturnType<typeof createBody>;
    readonly recorder: string;
  },
): Promise<number> {
  const { id, by, note, now, channels, body, recorder } = one;
  const rows = await sql`
    with acknowledged as (
      update recorder.alerts set acknowledged_at = ${now}, acknowledged_by = ${by}, note = ${note}
      where id = ${id} and recorder = ${recorder} and state = 'firing' and acknowledged_at is null returning id
    ),
    queued as (
      insert into recorder.alert_messages (recorder, channel, rule, kind, severity, alerts, body, made_at)
      select ${recorder}, u.channel, ${body.rule}, 'acknowledged', ${body.severity}, array[acknowledged.id],
        ${JSON.stringify(body)}::text::jsonb, now()
      from acknowledged, unnest(${[...channels]}::text[]) as u(channel)
    )
    select id from acknowledged`;
  return rows.length;
}
