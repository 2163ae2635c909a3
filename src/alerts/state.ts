import type { Severity } from '../config/alerts-schema.ts';
import { severities } from '../config/alerts-schema.ts';
import type { ConfiguredRule, Found } from './rule.ts';

/** An unresolved or just resolved alert. Durations in ms. */
export interface Alert {
  readonly id: number;
  readonly rule: string;
  readonly subject: string;
  readonly severity: Severity;
  readonly state: 'pending' | 'firing' | 'resolved';
  readonly summary: string;
  readonly details: unknown;
  readonly since: Date | null;
  /** Time of the first round that found the alert. */
  readonly beganAt: Date;
  readonly firedAt: Date | null;
  readonly resolvedAt: Date | null;
  /** True if the alert fired so often that it is only resolved after a long quiet time. */
  readonly flapping: boolean;
  readonly acknowledged: boolean;
  /** Durations of the condition, of its absence, and since the last message. */
  readonly heldMs: number;
  readonly absentMs: number;
  readonly untoldMs: number;
}

/** Kind of a message about an alert. */
export type Kind = 'firing' | 'resolved' | 'reminder' | 'acknowledged';

/** Result of a round for one alert. */
export interface Step {
  /** Null if the alert never fired and is deleted. */
  readonly alert: Alert | null;
  /** Kind of the message; null: no message. */
  readonly told: Exclude<Kind, 'acknowledged'> | null;
}

/** Number of firings within {@link FLAPS_WITHIN} from which on an alert is flapping. */
const FLAPS_AT = 3;
/** Time window for counting firings, in ms. */
export const FLAPS_WITHIN = 3_600_000;
/** Time without the condition after which a flapping alert is resolved, in ms. */
export const STEADY_AFTER = 30 * 60_000;

/** Input for the state transition of an alert. */
export interface Moment {
  readonly now: Date;
  /**
   * Time since the last evaluation of the rule, in ms: bounded, so that a jump of the clock does not age
   * alerts.
   */
  readonly elapsed: number;
  /** Number of firings of this rule and subject within {@link FLAPS_WITHIN} that are resolved. */
  readonly firedLately: number;
}

/**
 * Creates an alert.
 * @param id id of the new alert
 */
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

/**
 * Computes the next state of an unresolved alert.
 * @param found result of its rule; null if the condition does not hold any longer
 */
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
    // The severity never decreases: channels that received the alert because of its severity must receive its
    // end.
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
  // The first round without the condition only marks its absence; the time counts from then on.
  const absentMs = before.absentMs === 0 ? 1 : before.absentMs + elapsed;
  if (wait > 0 && absentMs < wait) return { alert: { ...before, absentMs }, told: null };
  return { alert: over(before, now), told: rule.event ? null : 'resolved' };
}

function fired(alert: Alert, { now, firedLately }: Moment): Step {
  const flapping = firedLately + 1 >= FLAPS_AT;
  return { alert: { ...alert, state: 'firing', firedAt: now, flapping, untoldMs: 0 }, told: 'firing' };
}

/** Returns the resolved alert. */
export const over = (alert: Alert, now: Date): Alert => ({ ...alert, state: 'resolved', resolvedAt: now });

function textsOf(rule: ConfiguredRule, { severity, summary, since, details }: Found) {
  return { severity: severity ?? rule.severity, summary, since, details: details ?? null };
}

/** Returns the rank of a severity; higher is more severe. */
export const rankOf = (severity: Severity) => severities.indexOf(severity);
