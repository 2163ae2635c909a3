import type postgres from 'postgres';
import { openCommitPool, openSealConnection } from '../../src/db/client.ts';
import type { ActiveFeed } from '../../src/recording/active-feed.ts';
import { closeDays } from '../../src/recording/close-days.ts';
import type { OpenUpstream } from '../../src/recording/context.ts';
import type { Job } from '../../src/recording/job.ts';
import { loadStates, planDue } from '../../src/recording/plan.ts';
import { record } from '../../src/recording/record.ts';
import { registerTargets } from '../../src/recording/register.ts';
import { aggregateRuns, type RunRetention } from '../../src/recording/run-days.ts';
import { type Retention, retain } from '../../src/retention/retention.ts';
import { UpstreamFailure } from '../../src/upstreams/failure.ts';
import { Chance } from '../chance.ts';
import type { SimulatedNetwork } from './network.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Runs at once: the machine has two cores. */
const AT_ONCE = 4;
/** Maximum delay of a job, ms. */
const MAX_JOB_DELAY_MS = 2_000;
/** Duration of a response, ms, and per item of a list. */
const RESPONSE_MS = 6;
const ITEM_MS = 0.3;

/** The recorded rows of one dataset. */
export interface DatasetCounts {
  runs: number;
  /** Runs that wrote rows. */
  wrote: number;
  rows: number;
}

/** Records a simulated network at the configured rate. The clock is simulated, without waiting. */
export class Recording {
  readonly byDataset = new Map<string, DatasetCounts>();
  readonly byStatus = new Map<string, number>();
  readonly #url: string;
  readonly #sql: postgres.Sql;
  readonly #commits: postgres.Sql;
  readonly #feeds: readonly ActiveFeed[];
  readonly #network: SimulatedNetwork;
  readonly #chance = new Chance(7);
  readonly #signal: AbortSignal;

  constructor(
    url: string,
    sql: postgres.Sql,
    feeds: readonly ActiveFeed[],
    network: SimulatedNetwork,
    signal: AbortSignal,
  ) {
    this.#url = url;
    this.#sql = sql;
    this.#commits = openCommitPool(url, 4);
    this.#feeds = feeds;
    this.#network = network;
    this.#signal = signal;
  }

  /** Closes the connections of commits. */
  end(): Promise<void> {
    return this.#commits.end({ timeout: 5 });
  }

  /** Registers the configured targets, as `up` does when it starts. @param now ms since 1970 */
  async register(now: number): Promise<void> {
    for (const feed of this.#feeds) await registerTargets(this.#sql, feed, now);
  }

  /** A day, minute by minute. @param day its start, ms since 1970 */
  async day(day: number): Promise<void> {
    for (let tick = day; tick < day + DAY && !this.#signal.aborted; tick += MINUTE) {
      this.#network.advance(tick / 1000);
      const jobs: { feed: ActiveFeed; job: Job }[] = [];
      for (const feed of this.#feeds) {
        if (tick % feed.every !== 0) continue;
        for (const job of planDue(feed, await loadStates(this.#sql, feed), tick)) jobs.push({ feed, job });
      }
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (let next = jobs.shift(); next; next = jobs.shift()) await this.#run(next.feed, next.job, tick);
        }),
      );
    }
  }

  /**
   * The tasks of `up` besides runs, after a day. @param day its start, ms since 1970 @param keep of runs @param
   * retention of datasets with limited retention
   */
  async afterDay(day: number, keep: RunRetention, retention: Retention): Promise<void> {
    await aggregateRuns(this.#sql, day + DAY, keep, this.#signal);
    const closing = openSealConnection(this.#url, DAY);
    const { failed } = await closeDays(closing, day + DAY + HOUR, this.#signal);
    await closing.end();
    const [first] = failed;
    if (first)
      throw new Error(`readings of ${first.dataset} on ${first.day} were not packed: ${first.error}`);
    await retain(this.#sql, retention, day + DAY, this.#signal);
  }

  async #run(feed: ActiveFeed, job: Job, tick: number): Promise<void> {
    let now = tick + Math.floor(this.#chance.share() * MAX_JOB_DELAY_MS);
    const clock = () => now;
    const open = this.#openUpstream((milliseconds) => {
      now += Math.round(milliseconds);
      return now;
    });
    const result = await record(
      { sql: this.#sql, commits: this.#commits, clock, worker: 'host-1/4711', open },
      feed,
      job,
      this.#signal,
    );
    if (typeof result === 'string') throw new Error(`a run of ${feed.source.name} was ${result}`);
    this.byStatus.set(result.status, (this.byStatus.get(result.status) ?? 0) + 1);
    result.datasets.forEach((name, at) => {
      const counts = this.byDataset.get(name) ?? { runs: 0, wrote: 0, rows: 0 };
      this.byDataset.set(name, counts);
      const rows = result.rowsWritten[at] ?? 0;
      counts.runs += 1;
      counts.wrote += rows > 0 ? 1 : 0;
      counts.rows += rows;
    });
  }

  /** The network as an upstream of one run. @param passes lets time pass, in ms, and returns the time */
  #openUpstream(passes: (milliseconds: number) => number): OpenUpstream {
    const network = this.#network;
    return (feed, { target }) => {
      const usage = { requests: 0, units: 0 };
      let now = passes(0);
      const respond = (what: string, answer: (now: number) => unknown): unknown => {
        usage.requests += 1;
        usage.units += feed.source.weight;
        const body = answer(passes(0) / 1000);
        now = passes(RESPONSE_MS * (0.5 + this.#chance.waiting(0.5)) + ITEM_MS * sizeOf(body));
        if (body === undefined) throw new UpstreamFailure('unsupported', `${what} is not simulated`);
        return body;
      };
      return {
        get: async (path) => respond(path, () => network.get(path)),
        post: async (path) => respond(path, () => undefined),
        rpc: async (_, method, params = {}) =>
          respond(method, (at) => network.rpc(target.node ?? '', method, params, Math.floor(at))),
        probe: async (path: string) => respond(path, () => undefined),
        pageSize: (max) => max,
        usage,
        get now() {
          return now;
        },
      };
    };
  }
}

/** The number of elements in the lists of a response. */
function sizeOf(body: unknown): number {
  if (typeof body !== 'object' || body === null) return 0;
  return Object.values(body).reduce((sum, value) => sum + (Array.isArray(value) ? value.length : 0), 0);
}
