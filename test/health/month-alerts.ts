import { type Account, STATES } from './month-account.ts';
import { second } from './world.ts';

/** An alert: seconds since the start of the month. */
export interface ExpectedAlert {
  readonly rule: 'node-down' | 'node-unobserved';
  readonly firedAt: number;
  readonly resolvedAt: number | null;
}

/** Range and interval of the rounds, in seconds since the start of the month. */
export interface Rounds {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

type Finding = 'found' | 'not found' | 'unknown';

/** Documented times of the rules, in seconds. */
const [DOWN_FOR, DOWN_CLEARS_AFTER] = [60, 60];
const [UNOBSERVED_AFTER, UNOBSERVED_FOR, OUTDATED_AFTER] = [300, 60, 300];
const [FLAPS_AT, FLAPS_WITHIN, FLAPPING_CLEARS_AFTER] = [3, 3_600, 1_800];

/** Returns the alerts that the default rules of a node promise for its seconds. */
export function expectedAlerts(account: Account, rounds: Rounds): ExpectedAlert[] {
  return [
    ...computeAlerts('node-down', rounds, DOWN_FOR, DOWN_CLEARS_AFTER, (at) => isDown(account, at)),
    ...computeAlerts('node-unobserved', rounds, UNOBSERVED_FOR, 0, (at) =>
      at >= UNOBSERVED_AFTER &&
      account.states.subarray(at - UNOBSERVED_AFTER, at + 1).every((state) => state === 0)
        ? 'found'
        : 'not found',
    ),
  ];
}

/** The last reading of a node: it is valid for five minutes without an observer. */
function isDown({ lastKnown, unobserved }: Account, at: number): Finding {
  const state = STATES[lastKnown[at] ?? 0];
  let since = at;
  if (unobserved[at] === 1)
    while (unobserved[since - 1] === 1 && (lastKnown[since - 1] === 3) === (state === 'maintenance'))
      since -= 1;
  if (state === 'unknown' || at - since >= OUTDATED_AFTER) return 'unknown';
  return state === 'down' ? 'found' : 'not found';
}

function computeAlerts(
  rule: ExpectedAlert['rule'],
  { from, to, step }: Rounds,
  delay: number,
  clearDelay: number,
  findingAt: (at: number) => Finding,
): ExpectedAlert[] {
  const alerts: ExpectedAlert[] = [];
  let open: OpenAlert | null = null;
  for (let at = from; at <= to; at += step) {
    const finding = findingAt(at);
    if (finding === 'unknown') {
      // Unknown time does not count.
      if (open && open.missedAt !== null) open.missedAt += step;
    } else if (finding === 'found') {
      if (open) open.foundSeconds += step;
      else open = { foundSeconds: 0, firedAt: null, isFlapping: false, missedAt: null };
      open.missedAt = null;
      if (open.firedAt !== null || open.foundSeconds < delay) continue;
      open.isFlapping = alerts.filter(({ firedAt }) => firedAt > at - FLAPS_WITHIN).length + 1 >= FLAPS_AT;
      open.firedAt = at;
    } else if (open && open.firedAt !== null) {
      open.missedAt ??= at;
      const requiredTime = open.isFlapping ? FLAPPING_CLEARS_AFTER : clearDelay;
      if (requiredTime > 0 && (at === open.missedAt || at - open.missedAt < requiredTime)) continue;
      alerts.push({ rule, firedAt: open.firedAt, resolvedAt: at });
      open = null;
    } else open = null;
  }
  if (open && open.firedAt !== null) alerts.push({ rule, firedAt: open.firedAt, resolvedAt: null });
  return alerts;
}

/** An alert that is not resolved. */
interface OpenAlert {
  /** Time for which it was found, in seconds. */
  foundSeconds: number;
  firedAt: number | null;
  isFlapping: boolean;
  missedAt: number | null;
}

/** An alert as text, to compare by eye. */
export const formatAlert = (node: string, { rule, firedAt, resolvedAt }: ExpectedAlert, start: number) =>
  [
    rule,
    node,
    ...[firedAt, resolvedAt].map((at) =>
      at === null ? 'open' : new Date(start + at * second).toISOString(),
    ),
  ].join(' ');
