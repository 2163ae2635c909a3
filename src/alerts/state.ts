import type { Severity } from '../config/alerts-schema.ts';
import { severities } from '../config/alerts-schema.ts';
import type { ConfiguredRule, Found } from './rule.ts';

/** An alert that is not over, or was over just now. Durations in ms. */
export interface Alert {
  readonly id: number;
  readonly rule: string;
  readonly subject: string;
  readonly severity: Severity;
  readonly state: 'pending' | 'firing' | 'resolved';
  readonly summary: string;
  readonly details: unknown;
  readonly since: Date | null;
  /** When a round first found it. */
  readonly beganAt: Date;
  readonly firedAt: Date | null;
  readonly resolvedAt: Date | null;
  /** It came and went so often that it is over only after a long quiet time. */
  readonly flapping: boolean;
  readonly acknowledged: boolean;
  /** How long it was found, and not found any more, and how long nobody was told. */
  readonly heldMs: number;
  readonly absentMs: number;
  readonly untoldMs: number;
}

/** What people are told of an alert. */
export type Kind = 'firing' | 'resolved' | 'reminder' | 'acknowledged';

/** What became of an alert in a round. */
export interface Step {
  /** Null: it was never told, and there is nothing to keep. */
  readonly alert: Alert | null;
  /** What is to be told; null: nothing. */
  readonly told: Exclude<Kind, 'acknowledged'> | null;
}

/** An alert that fires for the third time within an hour flaps. */
const FLAPS_AT = 3;
/** Fires within so many ms count. */
export const FLAPS_WITHIN = 3_600_000;
/** What flaps is over once it was not found for so long, ms. */
export const STEADY_AFTER = 30 * 60_000;

/** What a round knows when it judges an alert. */
export interface Moment {
  readonly now: Date;
  /** How much time counts since the rule was last asked, ms: bounded, so that a clock that jumps makes nothing older. */
  readonly elapsed: number;
  /** How often an alert of this rule and subject fired within {@link FLAPS_WITHIN}, and is over. */
  readonly firedLately: number;
}

/** The first sign of an alert. @param id the number that it gets */
export function begun(rule: ConfiguredRule, found: Found, id: number, moment: Moment): Step {
  const alert: Alert = {
    id,
    rule: rule.name,
    subject: found.subject,
    ...textsOf(rule, found),
    state: 'pending',
    beganAt: moment.now,
    firedAt: null,
    resolvedAt: null,
    flapping: false,
    acknowledged: false,
    heldMs: 0,
    absentMs: 0,
    untoldMs: 0,
  };
  return rule.for === 0 ? fired(alert, moment) : { alert, told: null };
}

/** What becomes of an alert that is not over. @param found what its rule says of it now; null: nothing any more */
export function stepped(rule: ConfiguredRule, alert: Alert, found: Found | null, moment: Moment): Step {
  if (found?.unknown) return { alert, told: null };
  return found ? lasting(rule, alert, found, moment) : fading(rule, alert, moment);
}

function lasting(rule: ConfiguredRule, before: Alert, found: Found, moment: Moment): Step {
  const texts = textsOf(rule, found);
  const isHeavier = rankOf(texts.severity) > rankOf(before.severity);
  const alert: Alert = {
    ...before,
    ...texts,
    // It never gets lighter: who was told of it because of its weight is told of its end.
    severity: isHeavier ? texts.severity : before.severity,
    heldMs: before.heldMs + moment.elapsed,
    absentMs: 0,
    untoldMs: before.untoldMs + moment.elapsed,
  };
  if (alert.state === 'pending')
    return alert.heldMs >= rule.for ? fired(alert, moment) : { alert, told: null };
  if (isHeavier) return { alert: { ...alert, untoldMs: 0 }, told: 'firing' };
  if (alert.untoldMs < rule.repeatInterval || alert.acknowledged) return { alert, told: null };
  return { alert: { ...alert, untoldMs: 0 }, told: 'reminder' };
}

function fading(rule: ConfiguredRule, before: Alert, { now, elapsed }: Moment): Step {
  if (before.state === 'pending') return { alert: null, told: null };
  const wait = before.flapping ? STEADY_AFTER : (rule.clear ?? 0);
  // The round that misses it first says only that it went; from then on time counts.
  const absentMs = before.absentMs === 0 ? 1 : before.absentMs + elapsed;
  if (wait > 0 && absentMs < wait) return { alert: { ...before, absentMs }, told: null };
  return { alert: over(before, now), told: rule.event ? null : 'resolved' };
}

function fired(alert: Alert, { now, firedLately }: Moment): Step {
  const flapping = firedLately + 1 >= FLAPS_AT;
  return { alert: { ...alert, state: 'firing', firedAt: now, flapping, untoldMs: 0 }, told: 'firing' };
}

/** An alert that is over. */
export const over = (alert: Alert, now: Date): Alert => ({ ...alert, state: 'resolved', resolvedAt: now });

function textsOf(rule: ConfiguredRule, { severity, summary, since, details }: Found) {
  return { severity: severity ?? rule.severity, summary, since, details: details ?? null };
}

/** What weighs more is greater. */
export const rankOf = (severity: Severity) => severities.indexOf(severity);
