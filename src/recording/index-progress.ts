import { and, eq, sql as expression, inArray, max } from 'drizzle-orm';
import type postgres from 'postgres';
import type { Dataset, Index, Target } from '../datasets/contract.ts';
import { ormOf } from '../db/orm.ts';
import { coverage, targets } from '../db/schema/bookkeeping.ts';
import { OLDER_AGAIN } from './sweep-windows.ts';

/** Items whose times are compared: those of about the newest page. */
const MAX_COMPARED = 200;
/** Fewer items show no usual interval. */
const MIN_COMPARED = 8;
/** An item this far in the future has a wrong time, ms: the clock here may be late by less. */
const CLOCK_TOLERANCE = 3_600_000;

/** How far an index has come, as the items of one target show. */
export interface Progress {
  /** The name of the service, a space, and the name of the index. */
  readonly index: string;
  /** The moment that the newest item shows, ms since 1970; null if there is no item. */
  readonly newest: number | null;
  /** The mean and the longest time between two items that follow each other, ms; null if there are too few items. */
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

  /** @param service that has the index */
  constructor(service: string, index: Index, target: Target) {
    this.#service = service;
    this.#index = index;
    this.#target = target;
  }

  /** The name of the index, after that of its service. */
  get name(): string {
    return `${this.#service} ${this.#index.name(this.#target)}`;
  }

  /** Reads the items of one page, newest first. @param now ms since 1970 */
  take(items: readonly unknown[], now: number): void {
    for (const item of items) {
      if (this.#times.length >= MAX_COMPARED) return;
      const time = this.#index.timeOf(item);
      if (time === null || time > now + CLOCK_TOLERANCE) continue;
      this.#times.push(time);
      const until = Math.min(time + (this.#index.spanOf?.(this.#target) ?? 0), now);
      this.#newest = Math.max(this.#newest ?? until, until);
    }
  }

  /** The moment that the newest item shows, ms since 1970; null if there is no item. */
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
 * The moment up to which the index has shown items of any target, ms since 1970: nothing after it is claimed as covered.
 * After 30 days without an item the silence counts as that of the targets, because all was requested again since.
 */
export async function claimableUntil(sql: postgres.Sql, index: string, now: number): Promise<number> {
  const [row] = await ormOf(sql)
    .select({ newest: max(targets.newest_item_at) })
    .from(targets)
    .where(eq(targets.index_name, index));
  return Math.max(row?.newest?.getTime() ?? Number.NEGATIVE_INFINITY, now - OLDER_AGAIN);
}

/**
 * The height up to which all datasets of a target are claimed: blocks below it are old enough, whatever window they are in. A window
 * of heights shows only the age of its items, and it may have none.
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
