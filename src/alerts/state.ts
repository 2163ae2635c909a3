import type { Severity } from '../config/alerts-schema.ts';
import { severities } from '../config/alerts-schema.ts';
import type { ConfiguredRule, RuleFinding } from './rule.ts';

/** An unresolved or just resolved alert. */
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
  /** Duration of the condition, in ms. */
  readonly reportedMs: number;
  /** Duration of the absence of the condition, in ms. */
  readonly absentMs: number;
  /** Time since the last message, in ms. */
  readonly sinceNoticeMs: number;
}

/** Kind of a message about an alert. */
export type NoticeKind = 'firing' | 'resolved' | 'unwatched' | 'reminder' | 'acknowledged';

/** Result of a round for one alert. */
export interface AlertTransition {
  /** The new state of the alert; null if the alert never fired and is deleted. */
  readonly alert: Alert | null;
  /** Kind of the message; null: no message. */
  readonly noticeKind: Exclude<NoticeKind, 'acknowledged'> | null;
}

/** Number of firings within {@link FLAPPING_WINDOW_MS} from which on an alert is flapping. */
const FLAPPING_THRESHOLD = 3;
/** Time window for counting firings, in ms. */
export const FLAPPING_WINDOW_MS = 3_600_000;
/** Time without the condition after which a flapping alert is resolved, in ms. */
export const FLAPPING_CLEAR_MS = 30 * 60_000;

/** Input for the state transition of an alert. */
export interface TransitionInput {
  readonly now: Date;
  /**
   * Time since the last evaluation of the rule, in ms. The time has a maximum, so that a jump of the clock
   * does not extend the duration of alerts.
   */
  readonly elapsed: number;
  /** Number of firings of this rule and subject within {@link FLAPPING_WINDOW_MS} that are resolved. */
  readonly firedLately: number;
}

/**
 * Creates an alert.
 * @param id id of the new alert
 */
export function startAlert(
  rule: ConfiguredRule,
  found: RuleFinding,
  id: number,
  moment: TransitionInput,
): AlertTransition {
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
    reportedMs: 0,
    absentMs: 0,
    sinceNoticeMs: 0,
  };
  return rule.for === 0 ? fireAlert(alert, moment) : { alert, noticeKind: null };
}

/**
 * Computes the next state of an unresolved alert.
 * @param found result of the alert's rule; null if the condition no longer holds
 */
export function advanceAlert(
  rule: ConfiguredRule,
  alert: Alert,
  found: RuleFinding | null,
  moment: TransitionInput,
): AlertTransition {
  if (found?.unknown) return { alert, noticeKind: null };
  return found ? keepAlert(rule, alert, found, moment) : clearAlert(rule, alert, moment);
}

function keepAlert(
  rule: ConfiguredRule,
  before: Alert,
  found: RuleFinding,
  moment: TransitionInput,
): AlertTransition {
  const texts = textsOf(rule, found);
  const isHeavier = getSeverityRank(texts.severity) > getSeverityRank(before.severity);
  const alert: Alert = {
    ...before,
    ...texts,
    // The severity never decreases, because channels that received the alert because of its severity must
    // also receive its end.
    severity: isHeavier ? texts.severity : before.severity,
    reportedMs: before.reportedMs + moment.elapsed,
    absentMs: 0,
    sinceNoticeMs: before.sinceNoticeMs + moment.elapsed,
  };
  if (alert.state === 'pending')
    return alert.reportedMs >= rule.for ? fireAlert(alert, moment) : { alert, noticeKind: null };
  if (isHeavier) return { alert: { ...alert, sinceNoticeMs: 0 }, noticeKind: 'firing' };
  if (alert.sinceNoticeMs < rule.repeatInterval || alert.acknowledged) return { alert, noticeKind: null };
  return { alert: { ...alert, sinceNoticeMs: 0 }, noticeKind: 'reminder' };
}

function clearAlert(rule: ConfiguredRule, before: Alert, { now, elapsed }: TransitionInput): AlertTransition {
  if (before.state === 'pending') return { alert: null, noticeKind: null };
  const wait = before.flapping ? FLAPPING_CLEAR_MS : (rule.clear ?? 0);
  // The first round without the condition only marks the absence; the time of the absence counts from this
  // round.
  const absentMs = before.absentMs === 0 ? 1 : before.absentMs + elapsed;
  if (wait > 0 && absentMs < wait) return { alert: { ...before, absentMs }, noticeKind: null };
  return { alert: resolveAlert(before, now), noticeKind: rule.event ? null : 'resolved' };
}

function fireAlert(alert: Alert, { now, firedLately }: TransitionInput): AlertTransition {
  const flapping = firedLately + 1 >= FLAPPING_THRESHOLD;
  return {
    alert: { ...alert, state: 'firing', firedAt: now, flapping, sinceNoticeMs: 0 },
    noticeKind: 'firing',
  };
}

const resolveAlert = (alert: Alert, now: Date): Alert => ({
  ...alert,
  state: 'resolved',
  resolvedAt: now,
});

/** Ends an alert whose rule or subject is no longer configured. A recovery was not observed. */
export function endUnwatchedAlert(before: Alert, now: Date): AlertTransition {
  if (before.state === 'pending') return { alert: null, noticeKind: null };
  const summary = `no longer watched, so a recovery was not observed; last report: ${before.summary}`;
  return { alert: { ...resolveAlert(before, now), summary }, noticeKind: 'unwatched' };
}

/** Returns true for the kinds of messages that end an alert. */
export const isEnd = (kind: string): boolean => kind === 'resolved' || kind === 'unwatched';

function textsOf(rule: ConfiguredRule, { severity, summary, since, details }: RuleFinding) {
  return { severity: severity ?? rule.severity, summary, since, details: details ?? null };
}

/** Returns the rank of a severity; higher is more severe. */
export const getSeverityRank = (severity: Severity) => severities.indexOf(severity);
