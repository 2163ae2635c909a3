import type postgres from 'postgres';
import { type Announcement, sandboxConfig } from '../../src/app/bundled-sandbox.ts';
import { activeFeeds } from '../../src/app/configured-feeds.ts';
import { createUpstreamOpener } from '../../src/app/upstream-opener.ts';
import { COMMIT_SETTINGS, CONNECTION_OPTIONS } from '../../src/db/client.ts';
import { connectPool } from '../../src/db/connect.ts';
import { silenceOf } from '../../src/db/session.ts';
import type { ActiveFeed } from '../../src/recording/active-feed.ts';
import type { RecordingContext } from '../../src/recording/context.ts';
import { loadStates, planDue } from '../../src/recording/plan.ts';
import { runJobs } from '../../src/recording/record-in-foreground.ts';
import { registerTargets } from '../../src/recording/register.ts';
import { ProcessorMeter } from '../pages/processor.ts';

/** The work and the cost of a round. */
export interface Round {
  readonly runs: number;
  readonly rows: number;
  readonly requests: number;
  /** Statements of PostgreSQL: the commits of runs, one of which may contain several pages, and all others. */
  readonly commits: number;
  readonly statements: number;
  /** Milliseconds. */
  readonly elapsed: number;
  /** Processor time of this process and of PostgreSQL, ms. */
  readonly processMs: number;
  readonly database: number;
}

/** A recorder that watches everything in a sandbox, with one database of one server. It polls on request. */
export class SandboxRecorder {
  readonly #feeds: readonly ActiveFeed[];
  readonly #sql: postgres.Sql;
  readonly #committing: postgres.Sql;
  readonly #meter: ProcessorMeter;
  readonly #context: RecordingContext;
  #now = 0;
  #commits = 0;
  #statements = 0;

  constructor(url: string, network: Announcement) {
    const config = sandboxConfig(network);
    this.#feeds = activeFeeds(config);
    this.#sql = connectPool(url, silenceOf('work'), {
      ...CONNECTION_OPTIONS,
      max: 12,
      debug: () => {
        this.#statements += 1;
      },
    });
    this.#committing = connectPool(url, silenceOf('work'), {
      ...CONNECTION_OPTIONS,
      connection: COMMIT_SETTINGS,
      max: 10,
      debug: () => {
        this.#commits += 1;
      },
    });
    this.#meter = new ProcessorMeter(url, process.pid);
    const clock = () => this.#now;
    const keys = { chainDataKey: undefined, metricsKey: undefined };
    this.#context = {
      sql: this.#sql,
      commits: this.#committing,
      clock,
      worker: 'host/1',
      open: createUpstreamOpener(config, keys, this.#sql, clock),
    };
  }

  /** Registers the configured targets, as `up` does when it starts. @param now ms since 1970 */
  async register(now: number): Promise<void> {
    for (const feed of this.#feeds) await registerTargets(this.#sql, feed, now);
  }

  /** Plans and executes all runs that are due. @param now ms since 1970 @throws Error if a run fails */
  async round(now: number): Promise<Round> {
    this.#now = now;
    const [cpuBefore, both] = [process.cpuUsage(), await this.#meter.read()];
    const [startedAt, commits, statements] = [performance.now(), this.#commits, this.#statements];
    let [runs, rows, requests] = [0, 0, 0];
    for (const feed of this.#feeds) {
      const jobs = planDue(feed, await loadStates(this.#sql, feed), now);
      const result = await runJobs(this.#context, feed, jobs, new AbortController().signal);
      for (const run of result.runs) {
        if (run.status !== 'done' && run.status !== 'partial' && run.status !== 'unsupported')
          throw new Error(`a run of ${run.feed} ended ${run.status}: ${run.error}`);
        runs += 1;
        rows += run.rowsWritten.reduce((sum, one) => sum + one, 0);
        requests += run.requests;
      }
      if (result.busy.length > 0)
        throw new Error(`${result.busy.length} targets of ${feed.source.name} were taken`);
    }
    const elapsed = performance.now() - startedAt;
    const { user, system } = process.cpuUsage(cpuBefore);
    const processMs = (user + system) / 1000;
    const total = (await this.#meter.read()) - both;
    return {
      runs,
      rows,
      requests,
      commits: this.#commits - commits,
      statements: this.#statements - statements,
      elapsed,
      processMs,
      database: total - processMs,
    };
  }

  async close(): Promise<void> {
    await Promise.all([
      this.#committing.end({ timeout: 5 }),
      this.#sql.end({ timeout: 5 }),
      this.#meter.close(),
    ]);
  }
}
