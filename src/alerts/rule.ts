import type postgres from 'postgres';
import type { LimitName, Severity } from '../config/alerts-schema.ts';
import type { DiskUse } from '../reporting/reports/disk.ts';
import type { RewardThresholds } from '../reporting/reports/rewards.ts';

/** Result of a rule for one subject at a moment. */
export interface RuleFinding {
  /** Stable identifier of the subject. */
  readonly subject: string;
  /** Severity of the alert. Default: the severity of the rule. */
  readonly severity?: Severity | undefined;
  readonly summary: string;
  /** Start of the condition according to recorded rows; null if unknown. */
  readonly since: Date | null;
  readonly details?: unknown;
  /**
   * True if the recorded rows do not determine the state. Firing alerts stay open, and no new alert starts.
   */
  readonly unknown?: boolean;
}

/** Input of rules besides recorded rows: parts of the configuration, and local measurements. */
export interface RuleFacts {
  readonly recorder: string;
  /** Names of the configured nodes. */
  readonly nodes: readonly string[];
  /** Validators of `watch.nodeIds`. */
  readonly nodeIds: readonly string[];
  readonly rewards: RewardThresholds;
  /** Services with a daily limit. */
  readonly budgets: readonly {
    readonly upstream: string;
    readonly endpoint: string;
    readonly perDay: number;
  }[];
  /** Returns the current disk space of the database. */
  disk(): Promise<DiskUse>;
}

/** Input for evaluating a rule. */
export interface RuleInput {
  /** Connection for reading `reporting`. */
  readonly sql: postgres.Sql;
  /** The evaluated moment. */
  readonly at: Date;
  readonly limits: Readonly<Record<LimitName, number>>;
  readonly facts: RuleFacts;
  /** True if the moment is in the past. */
  readonly past: boolean;
  readonly signal: AbortSignal;
}

/** A rule that creates alerts. */
export interface AlertRule {
  readonly name: string;
  /** Description of the condition, in one sentence. */
  readonly about: string;
  readonly severity: Severity;
  /** Time for which the condition must hold before the alert fires, in ms. */
  readonly for: number;
  /** Interval of the evaluation, in ms. */
  readonly every: number;
  /** Duration without the condition before the alert is resolved, in ms. Default: 0. */
  readonly clear?: number;
  /** Limits, with their default values. */
  readonly limits?: Readonly<Partial<Record<LimitName, number>>>;
  /** Datasets that the rule requires. */
  readonly needs?: readonly string[];
  /**
   * Returns the configured names that the subject of an alert depends on, such as nodes, datasets or subnets.
   * An alert ends without a recovery if one of these names is removed from the configuration. Default: no
   * names.
   */
  readonly dependsOn?: (alert: { readonly subject: string; readonly details: unknown }) => readonly string[];
  /** Set for rules about events, whose end is not reported. */
  readonly event?: true;
  /**
   * Reason why the rule cannot be evaluated at past moments. Absent: the rule can be evaluated at past
   * moments.
   */
  readonly onlyNow?: string;
  /**
   * Returns the subjects that meet the condition, or whose state is unknown.
   * @throws Error if the evaluation fails
   */
  evaluate(input: RuleInput): Promise<readonly RuleFinding[]>;
}

/** Rule with the settings of the configuration. */
export interface ConfiguredRule extends AlertRule {
  readonly limits: Readonly<Record<LimitName, number>>;
  /** Interval of the reminders of an open alert, in ms. */
  readonly repeatInterval: number;
  /** Names of the channels; null for all channels. */
  readonly channels: readonly string[] | null;
}

/** Maximum number of subjects of a rule that are reported individually. */
export const MAX_SUBJECTS = 200;
