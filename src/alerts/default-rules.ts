import type { LimitName, RuleLimits } from '../config/alerts-schema.ts';
import type { AlertRule } from './rule.ts';
import { budgetNearlySpent } from './rules/budget-nearly-spent.ts';
import { discrepancy } from './rules/discrepancy.ts';
import { diskFull } from './rules/disk-full.ts';
import {
  alertingFailing,
  datasetIncomplete,
  datasetLate,
  exportFailing,
  indexStalled,
  ledgerStalled,
  listUnconfirmed,
  recordingStalled,
  replicaBehind,
  sourceChanged,
} from './rules/findings.ts';
import { gapOpen, gapPermanent } from './rules/gaps.ts';
import { l1BalanceLow } from './rules/l1-balance-low.ts';
import { nodeDown } from './rules/node-down.ts';
import { nodeFlapping } from './rules/node-flapping.ts';
import { nodeUnobserved } from './rules/node-unobserved.ts';
import { quarantineGrowing } from './rules/quarantine-growing.ts';
import { rewardAtRisk } from './rules/reward-at-risk.ts';
import { seriesBreak } from './rules/series-break.ts';
import { validationEnding } from './rules/validation-ending.ts';

/** Default rules, in the order of docs/how-to/runbook.md. */
export const defaultRules: readonly AlertRule[] = [
  nodeDown,
  nodeFlapping,
  nodeUnobserved,
  sourceChanged,
  ledgerStalled,
  recordingStalled,
  datasetLate,
  datasetIncomplete,
  listUnconfirmed,
  quarantineGrowing,
  gapOpen,
  gapPermanent,
  budgetNearlySpent,
  diskFull,
  validationEnding,
  rewardAtRisk,
  l1BalanceLow,
  discrepancy,
  seriesBreak,
  exportFailing,
  indexStalled,
  replicaBehind,
  alertingFailing,
];

/** Limits of the default rules, for the validation of the configuration. */
export const ruleLimits: RuleLimits = Object.fromEntries(
  defaultRules.map(({ name, limits = {} }) => [name, limitNames(limits)]),
);

function limitNames(limits: AlertRule['limits'] & object): LimitName[] {
  return (['days', 'minutes', 'threshold', 'percent'] as const).filter((name) => limits[name] !== undefined);
}
