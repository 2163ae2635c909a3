import type postgres from 'postgres';
import type { Dataset } from '../../src/datasets/contract.ts';

const DAY = 86_400_000;
/** The hour of a day that is queried. */
const NOON = DAY / 2;

/**
 * SQL: the rows of a moment that belong to the time since $2, by kind of history. Values valid at the moment are
 * included, however old.
 */
const SINCE: Readonly<Record<Dataset['history'], string>> = {
  state: '$2::timestamptz is not null',
  series: 'r.bucket_start >= $2',
  log: 'r.valid_from >= $2',
  sample: 'r.observed_at >= $2',
};

/** Results of the queried moments. */
export interface MomentResults {
  /** Results equal to the previous ones. */
  equal: number;
  /** Dataset and moment of each result that changed. */
  readonly different: string[];
  /** Queries of a moment before the kept range that were refused, as required. */
  refused: number;
  /** Dataset and moment of each that was answered although it is before the kept range. */
  readonly answered: string[];
}

/**
 * Queries each dataset at noon of every day: on that day before its readings are packed, after half of its retention,
 * when everything before that day was removed; and once more after it left the kept range.
 */
export class Moments {
  readonly results: MomentResults = { equal: 0, different: [], refused: 0, answered: [] };
  readonly #sql: postgres.Sql;
  readonly #datasets: readonly Dataset[];
  readonly #keep: number;
  readonly #previous = new Map<string, string>();

  /** @param datasets those with a retention @param keep days */
  constructor(sql: postgres.Sql, datasets: readonly Dataset[], keep: number) {
    this.#sql = sql;
    this.#datasets = datasets;
    this.#keep = keep;
  }

  /**
   * @param day the start of the recorded day, before the tasks after it, ms since 1970 @param startedAt that of the first
   * one
   */
  async queryAll(day: number, startedAt: number): Promise<void> {
    for (const dataset of this.#datasets) {
      for (const age of new Set([0, Math.floor(this.#keep / 2), this.#keep, this.#keep + 1])) {
        const moment = day - age * DAY + NOON;
        if (moment < startedAt) continue;
        const place = `${dataset.name} at ${new Date(moment).toISOString()}`;
        if (age <= this.#keep) this.#compare(place, await this.#answer(dataset, moment));
        else await this.#expectRefusal(place, dataset, moment);
      }
    }
  }

  #compare(place: string, answer: string): void {
    const previous = this.#previous.get(place);
    if (previous === undefined) this.#previous.set(place, answer);
    else if (previous === answer) this.results.equal += 1;
    else this.results.different.push(place);
  }

  async #expectRefusal(place: string, dataset: Dataset, moment: number): Promise<void> {
    this.#previous.delete(place);
    try {
      await this.#answer(dataset, moment);
      this.results.answered.push(place);
    } catch (error) {
      if (!/was removed, and later changes/.test(String(error))) throw error;
      this.results.refused += 1;
    }
  }

  /** The number of returned rows of the kept range, if it starts with the day of the moment, and a hash of them all. */
  async #answer({ relation, history }: Dataset, moment: number): Promise<string> {
    const [row] = await this.#sql.unsafe<{ rows: number; hash: string }[]>(
      `select count(*)::float8 as rows, md5(coalesce(string_agg(r::text, E'\\n' order by r::text collate "C"), '')) as hash
      from reporting.${relation}_as_of($1) r where ${SINCE[history]}`,
      [new Date(moment), new Date(moment - NOON)],
    );
    return `${row?.rows} rows, ${row?.hash}`;
  }
}
