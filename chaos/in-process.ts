import { readFile } from 'node:fs/promises';
import { activeFeeds, catalogNames } from '../src/app/configured-feeds.ts';
import { createUpstreamOpener } from '../src/app/upstream-opener.ts';
import { validateConfig } from '../src/config/load.ts';
import { openDatabase } from '../src/db/client.ts';
import type { Clock } from '../src/lib/clock.ts';
import type { ActiveFeed } from '../src/recording/active-feed.ts';
import type { RecordingContext, RunResult } from '../src/recording/context.ts';
import type { Job } from '../src/recording/job.ts';
import { loadStates, planDue } from '../src/recording/plan.ts';
import { record } from '../src/recording/record.ts';
import { registerTargets } from '../src/recording/register.ts';
import { targetKey } from '../src/recording/target-key.ts';
import { configure, type RecordingSetup } from './settings.ts';
import { CANARY, type World } from './world.ts';

/** A recorder in this process, with the fault's own clock: days pass on request. */
export interface InProcess {
  readonly context: RecordingContext;
  readonly feeds: readonly ActiveFeed[];
  feed(source: string): ActiveFeed;
  /** Registers targets and plans what a feed lacks now, as every tick of its schedule does. */
  plan(feed: ActiveFeed): Promise<Job[]>;
  /** Runs a job. @throws Error if its target was taken */
  run(feed: ActiveFeed, job: Job, signal?: AbortSignal): Promise<RunResult>;
  /** Plans and runs until nothing is due. @returns the runs */
  work(feed: ActiveFeed): Promise<RunResult[]>;
}

/** Maximum rounds of planning and running: a feed that never completes is a failure itself. */
const MAX_ROUNDS = 2_000;

/** Opens the recorder's parts over the world's database and upstreams. */
export async function inProcess(world: World, setup: RecordingSetup, clock: Clock): Promise<InProcess> {
  const file = await configure(world, setup, 'in-process.yaml');
  const config = validateConfig(JSON.parse(await readFile(file, 'utf8')), catalogNames, file);
  const database = openDatabase(world.databaseUrl);
  world.closers.add(() => database.close());
  const feeds = activeFeeds(config);
  const keys = { chainDataKey: CANARY, metricsKey: CANARY };
  const context: RecordingContext = {
    sql: database.sql,
    commits: database.commits,
    clock,
    worker: `chaos/${process.pid}`,
    open: createUpstreamOpener(config, keys, database.sql, clock),
  };
  const plan = async (feed: ActiveFeed) => {
    await registerTargets(database.sql, feed, clock());
    return planDue(feed, await loadStates(database.sql, feed), clock());
  };
  const run = async (feed: ActiveFeed, job: Job, signal = new AbortController().signal) => {
    const result = await record(context, feed, job, signal);
    if (typeof result === 'string') throw new Error(`${targetKey(job.target)} was ${result}`);
    return result;
  };
  return {
    context,
    feeds,
    feed: (source) => {
      const found = feeds.find((one) => one.source.name === source);
      if (!found) throw new Error(`no feed ${source}`);
      return found;
    },
    plan,
    run,
    work: async (feed) => {
      const results: RunResult[] = [];
      for (let round = 0; round < MAX_ROUNDS; round++) {
        const jobs = await plan(feed);
        if (jobs.length === 0) return results;
        for (const job of jobs) results.push(await run(feed, job));
        if (results.at(-1)?.status === 'failed') return results;
      }
      throw new Error(`${feed.source.name} still lacks something after ${MAX_ROUNDS} rounds`);
    },
  };
}
