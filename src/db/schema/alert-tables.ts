import { sql } from 'drizzle-orm';
import {
  bigint,
  bigserial,
  boolean,
  index,
  integer,
  jsonb,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { instant, recorder } from './bookkeeping.ts';

const milliseconds = () => bigint({ mode: 'number' }).notNull().default(0);

/** Alerts: one row for each time that a rule reported a subject, from the first sign to the end. */
export const alerts = recorder.table(
  'alerts',
  {
    id: bigserial({ mode: 'number' }).primaryKey(),
    /** The recorder that evaluates the rule. */
    recorder: text().notNull(),
    rule: text().notNull(),
    subject: text().notNull(),
    severity: text().notNull(),
    /** `pending`, `firing` or `resolved`. */
    state: text().notNull(),
    summary: text().notNull(),
    details: jsonb(),
    /** Start of the condition according to the recorded data; null if the rule does not determine it. */
    since: instant(),
    began_at: instant().notNull(),
    fired_at: instant(),
    resolved_at: instant(),
    flapping: boolean().notNull().default(false),
    acknowledged_at: instant(),
    acknowledged_by: text(),
    note: text(),
    /** Time for which the rule reported the alert, counted by rounds, in ms. */
    reported_ms: milliseconds(),
    /** Time for which the rule did not report the alert, counted by rounds, in ms. */
    absent_ms: milliseconds(),
    /** Time since the last message about the alert, counted by rounds, in ms. */
    since_notice_ms: milliseconds(),
  },
  (table) => [
    uniqueIndex('alerts_open').on(table.recorder, table.rule, table.subject).where(sql`state <> 'resolved'`),
    index('alerts_by_end').on(table.resolved_at),
  ],
);

/** Messages to channels, sent or not. */
export const alertMessages = recorder.table(
  'alert_messages',
  {
    id: bigserial({ mode: 'number' }).primaryKey(),
    recorder: text().notNull(),
    channel: text().notNull(),
    rule: text().notNull(),
    /** `firing`, `resolved`, `reminder` or `acknowledged`. */
    kind: text().notNull(),
    severity: text().notNull(),
    alerts: bigint({ mode: 'number' }).array().notNull(),
    body: jsonb().notNull(),
    made_at: instant().notNull(),
    /** `waiting`, `sent`, `refused` (by the channel) or `dropped` (no longer needed). */
    state: text().notNull().default('waiting'),
    attempts: integer().notNull().default(0),
    /**
     * Set while the message is being sent. If this column is set and no worker is sending, the message may
     * have arrived.
     */
    sending_since: instant(),
    sent_at: instant(),
    error: text(),
  },
  (table) => [
    index('alert_messages_waiting').on(table.recorder, table.channel, table.id).where(sql`state = 'waiting'`),
    index('alert_messages_lost').on(table.made_at).where(sql`state in ('refused', 'dropped')`),
  ],
);

/** State of each channel. Only the worker whose number is `holder` sends messages. */
export const alertChannels = recorder.table(
  'alert_channels',
  {
    recorder: text().notNull(),
    channel: text().notNull(),
    holder: bigint({ mode: 'number' }).notNull().default(0),
    lease_until: instant(),
    failing_since: instant(),
    failures: integer().notNull().default(0),
    error: text(),
    next_try_at: instant(),
    sent_at: instant(),
    /**
     * Time at which firing alerts were last sent again, for channels that expire alerts that are not sent
     * again.
     */
    refreshed_at: instant(),
  },
  (table) => [primaryKey({ columns: [table.recorder, table.channel] })],
);

/** Time of the last evaluation of each rule, and the start of its consecutive failures. */
export const alertRules = recorder.table(
  'alert_rules',
  {
    recorder: text().notNull(),
    rule: text().notNull(),
    evaluated_at: instant(),
    failed_since: instant(),
    error: text(),
  },
  (table) => [primaryKey({ columns: [table.recorder, table.rule] })],
);

/** The rounds in which a recorder's rules are evaluated, one at a time. */
export const alertRounds = recorder.table('alert_rounds', {
  recorder: text().primaryKey(),
  round: bigint({ mode: 'number' }).notNull().default(0),
  lease_until: instant(),
  ended_at: instant(),
  every_ms: bigint({ mode: 'number' }).notNull(),
});
