import type postgres from 'postgres';
import { expect } from 'vitest';
import { describeDifference } from '../../../src/reporting/seals/difference.ts';
import { sealedHistories } from '../../../src/reporting/seals/form.ts';
import { sealUntil } from '../../../src/reporting/seals/seal.ts';
import { type VerifyResult, verify } from '../../../src/reporting/seals/verify.ts';
import { ManualClock } from '../../support/clock.ts';
import type { TestDatabase } from '../../support/database.ts';
import { type Run, World } from './world.ts';

export const hour = 3_600_000;
const start = Date.UTC(2026, 0, 1);
/** Returns the instant this many hours after the start of 2026, to the millisecond. */
export const h = (hours: number) => new Date(start + Math.round(hours * hour));

/** One dataset of each kind of history: sealing all of them takes five times as long. */
const DATASETS = ['metric_points', 'x_balances', 'chain_heights', 'p_blocks', 'node_health'];
export const oneOfEachKind = sealedHistories.filter(({ dataset }) => DATASETS.includes(dataset));

/** Seals, and verifies, a world in a database whose sessions have another time zone and another date style. */
export class SealedWorld {
  readonly world: World;
  readonly clock = new ManualClock(0);
  readonly #database: TestDatabase;
  readonly #sql: postgres.Sql;
  readonly #histories: typeof sealedHistories;

  /** @param histories the datasets that are sealed. Default: all. */
  constructor(database: TestDatabase, sql: postgres.Sql, histories = sealedHistories) {
    this.#database = database;
    this.#sql = sql;
    this.#histories = histories;
    this.world = new World(sql);
  }

  /** Sets the format of the database's sessions, which does not change what is sealed. */
  async setSessionDefaults(): Promise<void> {
    const name = this.#sql(new URL(this.#database.url).pathname.slice(1));
    await this.#sql`alter database ${name} set DateStyle = 'German'`;
    await this.#sql`alter database ${name} set TimeZone = 'Asia/Kathmandu'`;
  }

  readonly sealing = (signal = new AbortController().signal) => ({
    databaseUrl: this.#database.url,
    clock: this.clock.read,
    key: undefined,
    signal,
    histories: this.#histories,
  });

  /** Seals what was recorded in the first hours. */
  readonly seal = async (hours: number) => {
    this.clock.now = h(hours).getTime();
    const made = await sealUntil(this.sealing(), this.clock.now);
    if (made === null || made === 'busy') throw new Error(`no seal was made: ${made}`);
    return made;
  };

  readonly verifyRecord = (more: Partial<Parameters<typeof verify>[0]> = {}) =>
    verify({ databaseUrl: this.#database.url, ...more });

  /** Verifies that nothing differs. @returns the counts of the verification */
  readonly expectWhole = async (): Promise<VerifyResult> => {
    const found = await this.verifyRecord();
    expect(found.differences.map(describeDifference)).toEqual([]);
    expect(found.broken).toEqual([]);
    return found;
  };

  /** Runs some work in a run that starts and ends at once. */
  readonly inRun = async (hours: number, work: (run: Run, at: Date) => Promise<void>): Promise<Run> => {
    const run = await this.world.begin(h(hours));
    await work(run, h(hours));
    await this.world.end(run, h(hours));
    return run;
  };

  /** Records two days of every kind of history, each sealed. */
  readonly sealTwoDays = async (): Promise<void> => {
    const { world } = this;
    await this.inRun(2, async (run, at) => {
      await world.point(run, 'txCount', 10, at);
      await world.point(run, 'gasUsed', 10, at);
      await world.member(run, 'AVAX', 5, at);
      await world.poll(run, ['C', 'P', 'X'], 100, at);
      await world.block(run, 1, at);
    });
    await this.seal(24);
    await this.inRun(26, async (run, at) => {
      await world.point(run, 'txCount', 11, at);
      await world.member(run, 'AVAX', null, at);
      await world.block(run, 2, at);
    });
    await world.turn('up', h(27), h(30));
    await this.seal(48);
    const { rows, ends } = await this.expectWhole();
    expect({ rows, ends }).toEqual({ rows: 8, ends: 2 });
  };

  /** Records and seals a chain of three seals, the second one of a day without rows. */
  readonly sealChain = async (): Promise<void> => {
    await this.inRun(2, (run, at) => this.world.block(run, 1, at));
    await this.seal(24);
    await this.seal(48);
    await this.inRun(50, (run, at) => this.world.block(run, 2, at));
    await this.seal(72);
  };
}

/** Returns the differences of a verification in short form. */
export const short = ({ differences }: VerifyResult) =>
  differences.map(({ dataset, of, what, key, now }) => ({
    dataset,
    of,
    what,
    ...(now === null ? {} : { now: new Date(now).toISOString() }),
    key: key && JSON.parse(key),
  }));
