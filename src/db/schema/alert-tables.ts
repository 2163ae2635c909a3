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

/** What a rule said of a subject, from its first sign to its end: one row a time. */
export const alerts = recorder.table(
  'alerts',
  {
    id: bigserial({ mode: 'number' }).primaryKey(),
    /** The recorder whose rule it is. */
    recorder: text().notNull(),
    rule: text().notNull(),
    subject: text().notNull(),
    severity: text().notNull(),
    /** `pending`, `firing` or `resolved`. */
    state: text().notNull(),
    summary: text().notNull(),
    details: jsonb(),
    /** Since when it is so by what is recorded; null: the rule does not say. */
    since: instant(),
    began_at: instant().notNull(),
    fired_at: instant(),
    resolved_at: instant(),
    flapping: boolean().notNull().default(false),
    acknowledged_at: instant(),
    acknowledged_by: text(),
    note: text(),
    /** How long the rule has said it, has not said it, and how long nobody was told; as rounds counted it, ms. */
    held_ms: milliseconds(),
    absent_ms: milliseconds(),
    untold_ms: milliseconds(),
  },
  (table) => [
    uniqueIndex('alerts_open').on(table.recorder, table.rule, table.subject).where(sql`state <> 'resolved'`),
    index('alerts_by_end').on(table.resolved_at),
  ],
);

/** What channels are to be told, and were. */
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
    /** `waiting`, `sent`, `refused` (the channel does not take it) or `dropped` (nobody waits for it any more). */
    state: text().notNull().default('waiting'),
    attempts: integer().notNull().default(0),
    /** Set while it is being sent: where it stands and nobody sends, whether it arrived is not known. */
    sending_since: instant(),
    sent_at: instant(),
    error: text(),
  },
  (table) => [
    index('alert_messages_waiting').on(table.recorder, table.channel, table.id).where(sql`state = 'waiting'`),
    index('alert_messages_lost').on(table.made_at).where(sql`state in ('refused', 'dropped')`),
  ],
);

/** How each channel stands. One worker at a time sends: the one whose number is `holder`. */
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
    /** When what still fires was last told again, of channels that forget it otherwise. */
    refreshed_at: instant(),
  },
  (table) => [primaryKey({ columns: [table.recorder, table.channel] })],
);

/** When each rule was last asked, and since when it cannot be. */
export const alertRules = recorder.table(
  'alert_rules',
  {
    recorder: text().notNull(),
    rule: text().notNull(),
    asked_at: instant(),
    failed_since: instant(),
    error: text(),
  },
  (table) => [primaryKey({ columns: [table.recorder, table.rule] })],
);

/** The rounds of a recorder's rules: one at a time. */
export const alertRounds = recorder.table('alert_rounds', {
  recorder: text().primaryKey(),
  round: bigint({ mode: 'number' }).notNull().default(0),
  lease_until: instant(),
  ended_at: instant(),
  every_ms: bigint({ mode: 'number' }).notNull(),
});
