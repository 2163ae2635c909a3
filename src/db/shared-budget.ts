import { setTimeout as delay } from 'node:timers/promises';
import type postgres from 'postgres';
import type { Clock } from '../lib/clock.ts';
import type { AnnouncedLimit, Budget, Priority } from '../upstreams/budget.ts';
import { UpstreamFailure } from '../upstreams/failure.ts';
import type { BudgetKey } from './budget-key.ts';

/** Limits of an upstream, in its own units; undefined if unknown. */
export interface Limits {
  readonly perMinute: number | undefined;
  readonly perDay: number | undefined;
}

/** A limit that is valid now. */
interface Limit {
  readonly units: number;
  /** Remaining validity, in ms; Infinity for a declared limit. */
  readonly lasts: number;
}

/** Window of a limit per minute, in s. */
const MINUTE = 60;

/** Window of a limit per day, in s. */
const DAY = 86_400;

/**
 * Maximum validity of a limit from headers, in ms. Such a limit is valid for one window, but no longer than
 * this maximum, because only another response can correct the limit.
 */
const MAX_ANNOUNCED_LIMIT_MS = 600_000;

/**
 * The declared limits of an upstream and the limits in the headers of its responses; the smaller limit
 * applies. Only the latest headers apply, for a limited time, so that one wrong header does not slow the
 * recorder down for long.
 */
export class KnownLimits {
  readonly #declared: Limits;
  readonly #announced = new Map<number, { readonly units: number; readonly at: number }>();

  constructor(declared: Limits) {
    this.#declared = declared;
  }

  /** Stores a limit from the headers of a response. Windows other than a minute or a day are ignored. */
  noteAnnouncedLimit(
    { units, seconds }: { readonly units: number; readonly seconds: number },
    now: number,
  ): void {
    if (seconds === MINUTE || seconds === DAY) this.#announced.set(seconds, { units, at: now });
  }

  /**
   * Returns the limit of a minute, or null if there is no limit.
   * @param now ms since 1970
   */
  perMinute(now: number): Limit | null {
    return this.#limit(this.#declared.perMinute, MINUTE, now);
  }

  /**
   * Returns the limit of a day (UTC), or null if there is no limit.
   * @param now ms since 1970
   */
  perDay(now: number): Limit | null {
    return this.#limit(this.#declared.perDay, DAY, now);
  }

  #limit(declared: number | undefined, seconds: number, now: number): Limit | null {
    const units = declared ?? Number.POSITIVE_INFINITY;
    const announced = this.#announced.get(seconds);
    // A limit with a time in the future was stored while the clock was ahead, and is ignored.
    const age = announced && announced.at <= now ? now - announced.at : Number.POSITIVE_INFINITY;
    const lasts = Math.min(seconds * 1000, MAX_ANNOUNCED_LIMIT_MS) - age;
    if (announced && lasts > 0 && announced.units < units) return { units: announced.units, lasts };
    return declared === undefined ? null : { units: declared, lasts: Number.POSITIVE_INFINITY };
  }
}

/** Share of the limits that each priority may use. The rest is reserved for higher priorities. */
const PRIORITY_SHARES: Readonly<Record<Priority, number>> = { poll: 1, heal: 0.8, backfill: 0.6 };
/** Maximum wait of a call, in ms. If the wait is longer, the job returns to the queue. */
const MAX_WAIT_MS = 90_000;
/** Interval at which an upstream without a limit is checked for blocks that other workers stored, in ms. */
const BLOCK_CHECK_INTERVAL_MS = 1_000;

/**
 * Maximum length of a block, in ms. A longer block was stored by a process whose clock was ahead, and is
 * ignored.
 */
const MAX_BLOCK_MS = 3_600_000;

/** End of the block of an upstream, and the header or status that caused it. */
interface Block {
  blocked_until: Date | null;
  blocked_by: string | null;
}

/**
 * Time until the next attempt to take units, in ms, and the reason for the wait. 0 if the units were taken.
 */
interface BudgetWait {
  readonly wait: number;
  readonly reason: string;
}

/** The budget of an upstream, shared by all workers of all queues as one row of `recorder.budgets`. */
export class SharedBudget implements Budget {
  readonly #sql: postgres.Sql;
  readonly #key: BudgetKey;
  readonly #limits: KnownLimits;
  readonly #clock: Clock;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #blockedUntil = 0;
  #blockedBy: string | null = null;

  constructor(sql: postgres.Sql, key: BudgetKey, limits: Limits, clock: Clock) {
    this.#sql = sql;
    this.#key = key;
    this.#limits = new KnownLimits(limits);
    this.#clock = clock;
  }

  async take(units: number, priority: Priority, signal: AbortSignal): Promise<void> {
    for (;;) {
      const { wait, reason } = await this.#tryTake(units, priority);
      if (wait <= 0) return;
      if (wait > MAX_WAIT_MS)
        throw new UpstreamFailure(
          'rate-limited',
          `no call to ${this.#key.upstream} is allowed for ${Math.ceil(wait / 1000)} s: ${reason}`,
          { retryAfter: wait },
        );
      await delay(wait, undefined, { signal }).catch(() => {
        throw new UpstreamFailure('cancelled', 'stopped by the recorder');
      });
    }
  }

  async block(milliseconds: number, reason: string): Promise<void> {
    const until = this.#clock() + milliseconds;
    if (until > this.#blockedUntil) [this.#blockedUntil, this.#blockedBy] = [until, reason];
    const now = new Date(this.#clock());
    const { upstream, endpoint } = this.#key;
    await this.#sql`
      insert into recorder.budgets as b (upstream, endpoint, minute, minute_units, day, day_units, blocked_until, blocked_by)
      values (${upstream}, ${endpoint}, ${startOfMinute(now)}, 0, ${dayOf(now)}, 0, ${new Date(until)}, ${reason})
      on conflict (upstream, endpoint) do update set (blocked_until, blocked_by) = (excluded.blocked_until, excluded.blocked_by)
        where b.blocked_until is null or b.blocked_until < excluded.blocked_until
          or b.blocked_until > ${new Date(now.getTime() + MAX_BLOCK_MS)}`;
  }

  async learn({ limit, exhausted }: AnnouncedLimit): Promise<void> {
    if (exhausted) await this.block(exhausted.milliseconds, exhausted.header);
    if (limit) this.#limits.noteAnnouncedLimit(limit, this.#clock());
  }

  /** Takes the units if they are available. Returns the wait and its reason. */
  async #tryTake(units: number, priority: Priority): Promise<BudgetWait> {
    const now = new Date(this.#clock());
    const perMinute = this.#limits.perMinute(now.getTime());
    const perDay = this.#limits.perDay(now.getTime());
    if (!perMinute && !perDay) return this.#blockedFor(now);
    const minute = startOfMinute(now);
    const day = dayOf(now);
    const { upstream, endpoint } = this.#key;
    const most = (limit: Limit | null) => limit && Math.max(limit.units * PRIORITY_SHARES[priority], units);
    const [row] = await this.#sql<({ units_taken: boolean; day_full: boolean } & Block)[]>`
      with mine as (
        insert into recorder.budgets as b (upstream, endpoint, minute, minute_units, day, day_units)
        values (${upstream}, ${endpoint}, ${minute}, ${units}, ${day}, ${units})
        on conflict (upstream, endpoint) do update set
          minute = excluded.minute,
          minute_units = case when b.minute = excluded.minute then b.minute_units else 0 end + ${units},
          day = excluded.day,
          day_units = case when b.day = excluded.day then b.day_units else 0 end + ${units}
        where (b.blocked_until is null or b.blocked_until <= ${now}
            or b.blocked_until > ${new Date(now.getTime() + MAX_BLOCK_MS)})
          and (${most(perMinute)}::float8 is null
            or case when b.minute = excluded.minute then b.minute_units else 0 end + ${units} <= ${most(perMinute)}::float8)
          and (${most(perDay)}::float8 is null
            or case when b.day = excluded.day then b.day_units else 0 end + ${units} <= ${most(perDay)}::float8)
        returning 1)
      select exists(select from mine) as units_taken, b.blocked_until, b.blocked_by,
        coalesce(b.day = ${day}::date and b.day_units + ${units} > ${most(perDay)}::float8, false) as day_full
      from (values (1)) as one left join recorder.budgets b on (b.upstream, b.endpoint) = (${upstream}, ${endpoint})`;
    if (!row || row.units_taken) return TAKEN;
    const blocked = (row.blocked_until?.getTime() ?? 0) - now.getTime();
    if (blocked > 0 && blocked <= MAX_BLOCK_MS) return blockedBy(blocked, row.blocked_by);
    // A limit from response headers may expire before its window ends.
    const [ends, limit] = row.day_full
      ? [Date.parse(`${day}T00:00:00Z`) + 86_400_000, perDay]
      : [minute.getTime() + 60_000, perMinute];
    return {
      wait: Math.min(ends - now.getTime(), limit?.lasts ?? Number.POSITIVE_INFINITY),
      reason: `the units of the ${row.day_full ? 'day' : 'minute'} are used up`,
    };
  }

  async #blockedFor(now: Date): Promise<BudgetWait> {
    if (Math.abs(now.getTime() - this.#checkedAt) >= BLOCK_CHECK_INTERVAL_MS) {
      this.#checkedAt = now.getTime();
      const { upstream, endpoint } = this.#key;
      const [row] = await this.#sql<Block[]>`
        select blocked_until, blocked_by from recorder.budgets where (upstream, endpoint) = (${upstream}, ${endpoint})`;
      this.#blockedUntil = row?.blocked_until?.getTime() ?? 0;
      this.#blockedBy = row?.blocked_by ?? null;
    }
    const blocked = this.#blockedUntil - now.getTime();
    return blocked <= MAX_BLOCK_MS ? blockedBy(blocked, this.#blockedBy) : TAKEN;
  }
}

const TAKEN: BudgetWait = { wait: 0, reason: '' };
const blockedBy = (wait: number, header: string | null): BudgetWait => ({
  wait,
  reason: `the upstream sent ${header ?? '429'}`,
});

const startOfMinute = (now: Date) => new Date(Math.floor(now.getTime() / 60_000) * 60_000);
const dayOf = (now: Date) => now.toISOString().slice(0, 10);
