import type { Logger as Log } from 'pino';
import type postgres from 'postgres';
import { toErrorMessage } from '../../lib/errors.ts';
import { describeFinding, type FindingGroup, findingGroups } from './findings.ts';

/**
 * Minimum interval between two log entries of the same finding, in ms, even if the finding ends and starts
 * repeatedly.
 */
const LOG_INTERVAL_MS = 600_000;

/** Time of the last log entry of a finding, and whether the finding is resolved. */
interface Reported {
  readonly at: number;
  isResolved: boolean;
}

/**
 * Logs findings: each finding immediately with its reason, then at a limited rate, and when the finding is
 * resolved. Reads only `reporting`, so a process that records nothing can also run this class.
 */
export class Watchdog {
  readonly #sql: postgres.Sql;
  readonly #log: Log;
  readonly #now: () => number;
  readonly #reported = new Map<string, Reported>();

  /** @param now monotonic clock, in ms */
  constructor(sql: postgres.Sql, log: Log, now: () => number) {
    this.#sql = sql;
    this.#log = log;
    this.#now = now;
  }

  /** Runs one check. A database that does not respond is a finding, too. */
  async checkFindings(): Promise<void> {
    let groups: readonly FindingGroup[];
    try {
      groups = await findingGroups(this.#sql);
    } catch (error) {
      this.#found('the database', () => ({ cause: toErrorMessage(error) }), 'the database did not respond');
      return;
    }
    const problemKeys = new Set(groups.map(keyOf));
    for (const group of groups) {
      const { state, count, reason } = group;
      this.#found(keyOf(group), () => ({ state, count, reason }), describeFinding(group));
    }
    for (const [key, reported] of this.#reported) {
      if (problemKeys.has(key)) continue;
      if (!reported.isResolved) this.#log.info({ what: key }, 'a finding was resolved');
      reported.isResolved = true;
      if (this.#now() - reported.at > LOG_INTERVAL_MS) this.#reported.delete(key);
    }
  }

  #found(key: string, fields: () => object, message: string): void {
    const now = this.#now();
    const reported = this.#reported.get(key);
    if (reported && now - reported.at < LOG_INTERVAL_MS) return;
    this.#reported.set(key, { at: now, isResolved: false });
    this.#log.warn(fields(), message);
  }
}

const keyOf = ({ state, component, dataset }: FindingGroup) =>
  [state, component, dataset].filter(Boolean).join(' ');
