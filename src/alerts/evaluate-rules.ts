import type { ConfiguredRule, RuleFinding } from './rule.ts';
import { type Alert, type AlertTransition, advanceAlert, endUnwatchedAlert, startAlert } from './state.ts';

/** Result of evaluating a rule. */
export interface RuleResult {
  readonly found: readonly RuleFinding[];
  /** Elapsed time since the previous evaluation, in ms, up to a maximum. */
  readonly elapsed: number;
}

/** An alert to report, and the kind of the message. */
export interface AlertNotice {
  readonly alert: Alert;
  readonly kind: NonNullable<AlertTransition['noticeKind']>;
}

/** Changes of a round. */
export interface RoundChanges {
  readonly written: readonly Alert[];
  /** Ids of pending alerts that never fired, and are deleted. */
  readonly removedIds: readonly number[];
  readonly notices: readonly AlertNotice[];
}

/** Input of a round. */
export interface RoundInput {
  readonly rules: readonly ConfiguredRule[];
  /** Results by rule. A rule without a result was not due or failed, and its alerts stay unchanged. */
  readonly answers: ReadonlyMap<string, RuleResult>;
  /** Alerts that are not resolved. */
  readonly open: readonly Alert[];
  /** Ids of open alerts whose subjects are no longer configured. */
  readonly unwatched: ReadonlySet<number>;
  readonly firedLately: (rule: string, subject: string) => number;
  readonly now: Date;
  /** Returns the id of a new alert. */
  readonly nextId: () => number;
}

/** Computes the new state of all alerts. Alerts of disabled or removed rules end. */
export function computeRoundChanges({
  rules,
  answers,
  open,
  unwatched,
  firedLately,
  now,
  nextId,
}: RoundInput): RoundChanges {
  const steps: { readonly before: Alert | null; readonly step: AlertTransition }[] = [];
  for (const rule of rules) {
    const answer = answers.get(rule.name);
    if (!answer) continue;
    const found = new Map(answer.found.map((one) => [one.subject, one]));
    const moment = (subject: string) => ({
      now,
      elapsed: answer.elapsed,
      firedLately: firedLately(rule.name, subject),
    });
    const mine = open.filter((alert) => alert.rule === rule.name);
    for (const before of mine) {
      const one = found.get(before.subject) ?? null;
      const isUnwatched = unwatched.has(before.id) && (one === null || one.unknown);
      steps.push({
        before,
        step: isUnwatched
          ? endUnwatchedAlert(before, now)
          : advanceAlert(rule, before, one, moment(before.subject)),
      });
    }
    const known = new Set(mine.map(({ subject }) => subject));
    for (const one of found.values())
      if (!known.has(one.subject) && !one.unknown)
        steps.push({ before: null, step: startAlert(rule, one, nextId(), moment(one.subject)) });
  }
  const names = new Set(rules.map(({ name }) => name));
  for (const before of open.filter(({ rule }) => !names.has(rule)))
    steps.push({ before, step: endUnwatchedAlert(before, now) });
  return {
    written: steps.flatMap(({ before, step }) => (step.alert && step.alert !== before ? [step.alert] : [])),
    removedIds: steps.flatMap(({ before, step }) => (before && !step.alert ? [before.id] : [])),
    notices: steps.flatMap(({ step: { alert, noticeKind } }) =>
      alert && noticeKind ? [{ alert, kind: noticeKind }] : [],
    ),
  };
}
