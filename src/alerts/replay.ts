import type { AlertContext } from './context.ts';
import { computeRoundChanges, type RuleResult } from './evaluate-rules.ts';
import type { ConfiguredRule } from './rule.ts';
import { evaluateRule } from './rule-context.ts';
import { type Alert, FLAPPING_WINDOW_MS } from './state.ts';

/** Result of replaying the rules over past moments. */
export interface ReplayResult {
  /** Alerts in the order of their firing. Alerts that did not end within the range have no end. */
  readonly alerts: readonly Alert[];
  /** Number of messages to a channel without filters. */
  readonly messages: number;
  /**
   * Rules that were not evaluated, with the reason: the rule does not support past moments, or its evaluation
   * failed.
   */
  readonly left: readonly { readonly rule: string; readonly reason: string }[];
  readonly rounds: number;
}

/** Range of past moments, inclusive start and end. Times are in ms since 1970. */
export interface ReplayRange {
  readonly from: number;
  readonly to: number;
  /** Interval between two rounds, in ms. */
  readonly step: number;
}

/**
 * Evaluates the rules at consecutive past moments, like rounds. Writes nothing and sends no messages. The
 * evaluation of a moment includes rows about this moment that were recorded later.
 */
export async function replayRules(
  { reader, rules, facts }: Pick<AlertContext, 'reader' | 'rules' | 'facts'>,
  { from, to, step }: ReplayRange,
  signal: AbortSignal,
): Promise<ReplayResult> {
  const skipped = new Map(
    rules.flatMap(({ name, onlyNow }) => (onlyNow === undefined ? [] : [[name, onlyNow]])),
  );
  const evaluatedAt = new Map<string, number>();
  const ended: Alert[] = [];
  let open: readonly Alert[] = [];
  let [ids, messages, rounds] = [0, 0, 0];
  for (let at = from; at <= to && !signal.aborted; at += step) {
    const now = new Date(at);
    const answers = new Map<string, RuleResult>();
    for (const rule of rules.filter(({ name }) => !skipped.has(name))) {
      const last = evaluatedAt.get(rule.name);
      if (last !== undefined && at - last < rule.every - step / 2) continue;
      const result = await evaluateRule(rule, now, { reader, facts, past: true, signal });
      if ('error' in result) skipped.set(rule.name, result.error);
      else answers.set(rule.name, { found: result.found, elapsed: last === undefined ? 0 : at - last });
      evaluatedAt.set(rule.name, at);
    }
    const judged = computeRoundChanges({
      rules,
      answers,
      open,
      unwatched: new Set(), // the configuration of past moments is not stored
      firedLately: (rule, subject) =>
        ended.filter((one) => firedSince(one, rule, subject, at - FLAPPING_WINDOW_MS)).length,
      now,
      nextId: () => ++ids,
    });
    open = after(open, judged.written, judged.removedIds);
    ended.push(...judged.written.filter(({ state }) => state === 'resolved'));
    messages += new Set(judged.notices.map(({ alert, kind }) => `${alert.rule} ${kind}`)).size;
    rounds += 1;
  }
  const alerts = [...ended, ...open.filter(({ firedAt }) => firedAt !== null)];
  return {
    alerts: alerts.sort((a, b) => firing(a) - firing(b) || a.id - b.id),
    messages,
    left: [...skipped].map(([rule, reason]) => ({ rule, reason })),
    rounds,
  };
}

/** Returns the open alerts after a round. */
function after(open: readonly Alert[], written: readonly Alert[], removedIds: readonly number[]): Alert[] {
  const known = new Map(open.map((alert) => [alert.id, alert]));
  for (const alert of written) known.set(alert.id, alert);
  return [...known.values()].filter(({ id, state }) => state !== 'resolved' && !removedIds.includes(id));
}

const firing = ({ firedAt }: Alert) => firedAt?.getTime() ?? 0;

const firedSince = (alert: Alert, rule: string, subject: string, since: number) =>
  alert.rule === rule && alert.subject === subject && firing(alert) > since;

/** Returns the rule of a name; all rules if the name is undefined. */
export const findRules = (rules: readonly ConfiguredRule[], name: string | undefined) =>
  name === undefined ? rules : rules.filter((rule) => rule.name === name);
