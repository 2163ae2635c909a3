import type postgres from 'postgres';
import type { Clock } from '../lib/clock.ts';

/**
 * The clock of the database, extrapolated by a monotonic clock between measurements. All processes use this
 * clock, independently of their system clocks. This clock is ahead of the database only if the database clock
 * was set back since the last measurement.
 */
export class DatabaseClock {
  readonly #sql: postgres.Sql;
  readonly #steady: Clock;
  #offset: number | null = null;

  constructor(sql: postgres.Sql, steady: Clock) {
    this.#sql = sql;
    this.#steady = steady;
  }

  /**
   * Returns the time in ms since 1970.
   * @throws Error before the first measurement
   */
  readonly now: Clock = () => {
    if (this.#offset === null) throw new Error('the clock of the database was not measured yet');
    return Math.floor(this.#steady() + this.#offset);
  };

  /** Measures the clock. If the known offset is within the error of the measurement, it is kept. */
  readonly measure = async (): Promise<void> => {
    const sent = this.#steady();
    const [row] = await this.#sql<{ at: number }[]>`
      select extract(epoch from clock_timestamp())::float8 * 1000 as at`;
    if (!row) return;
    const [least, most] = [row.at - this.#steady(), row.at - sent];
    if (this.#offset === null || this.#offset < least || this.#offset > most) this.#offset = least;
  };
}
