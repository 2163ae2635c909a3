import type postgres from 'postgres';
import type { LimitName, Severity } from '../config/alerts-schema.ts';
import type { DiskUse } from '../reporting/reports/disk.ts';
import type { RewardThresholds } from '../reporting/reports/rewards.ts';

/** What a rule says of a subject at a moment. */
export interface Found {
  /** What it is about: equal as long as it is about the same. */
  readonly subject: string;
  /** Absent: the rule's own. */
  readonly severity?: Severity | undefined;
  readonly summary: string;
  /** Since when it is so by what is recorded; null: not known. */
  readonly since: Date | null;
  readonly details?: unknown;
  /** True: the record does not tell whether it is so. What fires goes on, and nothing begins. */
  readonly unknown?: boolean;
}

/** What rules are told beside the record: parts of the configuration, and what only this machine knows. */
export interface Facts {
  readonly recorder: string;
  /** The configured nodes, by name. */
  readonly nodes: readonly string[];
  /** The validators of `watch.nodeIds`. */
  readonly nodeIds: readonly string[];
  readonly rewards: RewardThresholds;
  /** Services with a limit a day. */
  readonly budgets: readonly {
    readonly upstream: string;
    readonly endpoint: string;
    readonly perDay: number;
  }[];
  /** The space that the record takes now. */
  disk(): Promise<DiskUse>;
}

/** How a rule is asked. */
export interface Asking {
  /** Reads `reporting`. */
  readonly sql: postgres.Sql;
  /** The moment that is asked about. */
  readonly at: Date;
  readonly limits: Readonly<Record<LimitName, number>>;
  readonly facts: Facts;
  /** It is asked about a past moment. */
  readonly past: boolean;
  readonly signal: AbortSignal;
}

/** What an alert is decided by. Times in ms. */
export interface Rule {
  readonly name: string;
  /** One sentence: what it says. */
  readonly about: string;
  readonly severity: Severity;
  /** How long it must be so before anybody is told. */
  readonly for: number;
  /** How often it is asked. */
  readonly every: number;
  /** How long it must not be so any more before it counts as over; absent: at once. */
  readonly clear?: number;
  /** Its numbers, with what they are by default. */
  readonly limits?: Readonly<Partial<Record<LimitName, number>>>;
  /** Datasets without which it has nothing to say. */
  readonly needs?: readonly string[];
  /** It tells of something that happened: that it is over is nothing to tell. */
  readonly event?: true;
  /** Why it cannot be asked about a past moment; absent: it can. */
  readonly onlyNow?: string;
  /** @throws Error when it cannot be asked */
  ask(asking: Asking): Promise<readonly Found[]>;
}

/** A rule with what the configuration says of it. */
export interface ConfiguredRule extends Rule {
  readonly limits: Readonly<Record<LimitName, number>>;
  /** How often it is told again while it lasts. */
  readonly repeatInterval: number;
  /** Who is told, by name; null: everybody. */
  readonly channels: readonly string[] | null;
}

/** So many subjects of a rule are told one by one. More is a mistake of a query of one's own. */
export const MOST_SUBJECTS = 200;
