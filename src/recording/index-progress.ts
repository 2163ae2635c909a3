import { and, eq, sql as expression, inArray, max } from 'drizzle-orm';
import type postgres from 'postgres';
import type { Dataset, Index, Target } from '../datasets/contract.ts';
import { ormOf } from '../db/orm.ts';
import { coverage, targets } from '../db/schema/bookkeeping.ts';
import { SWEEP_INTERVAL_MS } from './sweep-windows.ts';

/** Maximum number of items whose times are compared, about one page of the newest items. */
const MAX_COMPARED = 200;
/** Minimum number of items for a mean interval. */
const MIN_COMPARED = 8;
/**
 * Maximum time by which an item may be ahead of the local clock, in ms. The local clock may be late. An item
 * beyond this limit is ignored.
 */
const CLOCK_TOLERANCE_MS = 3_600_000;

/** Progress of an index, measured by the items of one target. */
export interface Progress {
  /** The name of the service, a space, and the name of the index. */
  readonly index: string;
  /** Time of the newest item, in ms since 1970. Null if there is no item. */
  readonly newest: number | null;
  /** Mean and longest time between two consecutive items, in ms. Null if there are too few items. */
  readonly usualInterval: number | null;
  readonly longestInterval: number | null;
}

/** Collects the times of the newest items of a target. */
export class IndexProgress {
  readonly #service: string;
  readonly #index: Index;
  readonly #target: Target;
  #newest: number | null = null;
  readonly #times: number[] = [];

  /** @param service name of the service that has the index */
  constructor(service: string, index: Index, target: Target) {
    this.#service = service;
    this.#index = index;
    this.#target = target;
  }

  /** Name of the service, a space, and the name of the index. */
  get name(): string {
    return `${this.#service} ${this.#index.name(this.#target)}`;
  }

  /**
   * Reads the times of the items of one page, newest first.
   * @param now ms since 1970
   */
  take(items: readonly unknown[], now: number): void {
    for (const item of items) {
      if (this.#times.length >= MAX_COMPARED) return;
      const time = this.#index.timeOf(item);
      if (time === null || time > now + CLOCK_TOLERANCE_MS) continue;
      this.#times.push(time);
      const until = Math.min(time + (this.#index.spanOf?.(this.#target) ?? 0), now);
      this.#newest = Math.max(this.#newest ?? until, until);
    }
  }

  /** Time of the newest item, in ms since 1970. Null if there is no item. */
  get newest(): number | null {
    return this.#newest;
  }

  read(): Progress {
    const times = [...this.#times].sort((a, b) => b - a);
    const intervals = times.slice(1).map((time, at) => (times[at] ?? time) - time);
    const isEnough = times.length >= MIN_COMPARED;
    return {
      index: this.name,
      newest: this.newest,
      usualInterval: isEnough ? Math.round(sum(intervals) / intervals.length) : null,
      longestInterval: isEnough ? Math.max(...intervals) : null,
    };
  }
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/**
 * Returns the time up to which ranges of an index may be claimed as covered, in ms since 1970. This is the
 * time of the newest item of any target, but not earlier than 30 days ago. Sweeps have requested all windows
 * before that time again, so that late items in them are recorded.
 */
export async function claimableUntil(sql: postgres.Sql, index: string, now: number): Promise<number> {
  const [row] = await ormOf(sql)
    .select({ newest: max(targets.newest_item_at) })
    .from(targets)
    .where(eq(targets.index_name, index));
  return Math.max(row?.newest?.getTime() ?? Number.NEGATIVE_INFINITY, now - SWEEP_INTERVAL_MS);
}

/**
 * Returns the exclusive height up to which all datasets of a target are covered. A window below this height
 * can be claimed even if it has no items. The items of a window determine only the age of their own blocks.
 */
export async function coveredUntil(
  sql: postgres.Sql,
  datasets: readonly Pick<Dataset, 'name'>[],
  targetKey: string,
): Promise<number> {
  const names = datasets.map(({ name }) => name);
  const rows = await ormOf(sql)
    .select({ until: expression<string | null>`upper(${coverage.covered})` })
    .from(coverage)
    .where(and(inArray(coverage.dataset, names), eq(coverage.target_key, targetKey)));
  return rows.length < names.length ? 0 : Math.min(...rows.map(({ until }) => Number(until ?? 0)));
}
