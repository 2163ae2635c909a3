import type { ConfiguredRule, Found } from './rule.ts';
import { type Alert, begun, over, type Step, stepped } from './state.ts';

/** What a rule said when it was asked. */
export interface Answer {
  readonly found: readonly Found[];
  /** How much time counts since it was asked before, ms. */
  readonly elapsed: number;
}

/** An alert that somebody is to be told of, and what. */
export interface Told {
  readonly alert: Alert;
  readonly kind: NonNullable<Step['told']>;
}

/** What a round changes. */
export interface Judged {
  readonly written: readonly Alert[];
  /** Alerts that were never told, and of which nothing is kept. */
  readonly gone: readonly number[];
  readonly told: readonly Told[];
}

/** What a round is about. */
export interface Judging {
  readonly rules: readonly ConfiguredRule[];
  /** By rule; a rule without an answer was not asked, or failed: its alerts stay as they are. */
  readonly answers: ReadonlyMap<string, Answer>;
  /** The alerts that are not over. */
  readonly open: readonly Alert[];
  readonly firedLately: (rule: string, subject: string) => number;
  readonly now: Date;
  /** Numbers of new alerts. */
  readonly nextId: () => number;
}

/** Decides what becomes of the alerts. Alerts of rules that are off, or not there any more, are over. */
export function judge({ rules, answers, open, firedLately, now, nextId }: Judging): Judged {
  const steps: { readonly before: Alert | null; readonly step: Step }[] = [];
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
    for (const before of mine)
      steps.push({
        before,
        step: stepped(rule, before, found.get(before.subject) ?? null, moment(before.subject)),
      });
    const known = new Set(mine.map(({ subject }) => subject));
    for (const one of found.values())
      if (!known.has(one.subject) && !one.unknown)
        steps.push({ before: null, step: begun(rule, one, nextId(), moment(one.subject)) });
  }
  const names = new Set(rules.map(({ name }) => name));
  for (const before of open.filter(({ rule }) => !names.has(rule)))
    steps.push({
      before,
      step: {
        alert: before.state === 'pending' ? null : over(before, now),
        told: before.state === 'pending' ? null : 'resolved',
      },
    });
  return {
    written: steps.flatMap(({ before, step }) => (step.alert && step.alert !== before ? [step.alert] : [])),
    gone: steps.flatMap(({ before, step }) => (before && !step.alert ? [before.id] : [])),
    told: steps.flatMap(({ step: { alert, told } }) => (alert && told ? [{ alert, kind: told }] : [])),
  };
}
