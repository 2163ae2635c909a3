import { Logger, run } from 'graphile-worker';
import PgBoss from 'pg-boss';
import { pino } from 'pino';
import { z } from 'zod';
import type { Target } from '../../src/datasets/contract.ts';
import { HEALS, POLLS, recordJob } from '../../src/jobs/jobs.ts';
import { openBackend } from '../../src/jobs/open-backend.ts';
import { startWorkers } from '../../src/jobs/workers.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { withDefaultSettings } from '../../src/recording/active-feed.ts';
import { addressIn } from '../contenders/lists.ts';
import { openRecorder } from '../contenders/recorder.ts';
import { CREATE_TABLE, openUpsert, polledLists } from './upsert.ts';

/**
 * One way to poll all targets, in its own process. Arguments: its name and the addresses of database and service. Each
 * message from the parent, a round, polls every target once; the response is the processor time, and the duration, ms.
 */
const AT_ONCE = 4;
const { targets, dataset } = polledLists;
const setupShape = z.object({ databaseUrl: z.string(), serviceUrl: z.string() });
type Setup = z.infer<typeof setupShape>;
/** Polls all targets; its preparation is not timed. */
type Round = (round: number) => Promise<void>;

/** Counts jobs until all of a round are complete. */
class JobCounter {
  #remaining = 0;
  #all: () => void = () => {};

  /** @returns resolves after this many more */
  wait(count: number): Promise<void> {
    this.#remaining = count;
    return new Promise((resolve) => {
      this.#all = resolve;
    });
  }

  one(): void {
    this.#remaining -= 1;
    if (this.#remaining === 0) this.#all();
  }
}

/** The recorder's jobs from its queue in PostgreSQL, by its workers. */
async function recorder(setup: Setup): Promise<Round> {
  let current = 0;
  const done = new JobCounter();
  const recording = openRecorder({ ...setup, rows: 0 }, () => addressIn(setup.serviceUrl, current));
  const feed = withDefaultSettings({ source: dataset.source, datasets: [dataset] }, targets);
  const log = pino({ level: 'warn' }, pino.destination(2));
  const backend = await openBackend(
    { redisUrl: undefined, databaseUrl: setup.databaseUrl },
    log,
    new AbortController().signal,
  );
  const queues = { polls: await backend.queue(POLLS), heals: await backend.queue(HEALS) };
  await startWorkers(backend, queues, {
    sql: recording.sql,
    clock: systemClock,
    feeds: [feed],
    recording,
    log,
    finished({ status, error }) {
      if (status !== 'done') throw new Error(`a run ended ${status}: ${error}`);
      done.one();
    },
  });
  return async (round) => {
    current = round;
    const all = done.wait(targets.length);
    await queues.polls.addBulk(
      targets.map((target) => {
        const { name, data, opts } = recordJob(feed, { target, window: null, reason: 'poll' });
        return { name, data, opts: { ...opts, jobId: `${opts.jobId} ${round}` } };
      }),
    );
    await all;
  };
}

/** The loop itself, several targets at once, without a queue. */
async function loop({ databaseUrl, serviceUrl }: Setup): Promise<Round> {
  const upsert = openUpsert(databaseUrl, serviceUrl, AT_ONCE);
  return async (round) => eachOf(targets, (target) => upsert(target, round));
}

async function eachOf<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const waiting = [...all];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await work(next);
    }),
  );
}

const payload = z.object({ target: z.record(z.string(), z.string()), round: z.number() });
const payloadsOf = (round: number) => targets.map((target: Target) => ({ target, round }));

/** The same upsert as jobs of pg-boss, which polls for jobs twice a second, as often as it allows. */
async function pgBoss({ databaseUrl, serviceUrl }: Setup): Promise<Round> {
  const upsert = openUpsert(databaseUrl, serviceUrl, AT_ONCE);
  const done = new JobCounter();
  const boss = new PgBoss(databaseUrl);
  boss.on('error', (error) => console.error(error));
  await boss.start();
  await boss.createQueue('polls');
  const options = { batchSize: targets.length, pollingIntervalSeconds: 0.5 };
  await boss.work('polls', options, async (jobs) => {
    await eachOf(jobs, async ({ data }) => {
      const { target, round } = payload.parse(data);
      await upsert(target, round);
      done.one();
    });
  });
  return async (round) => {
    const all = done.wait(targets.length);
    await boss.insert(payloadsOf(round).map((data) => ({ name: 'polls', data })));
    await all;
  };
}

/** The same upsert as jobs of graphile-worker. */
async function graphileWorker({ databaseUrl, serviceUrl }: Setup): Promise<Round> {
  const upsert = openUpsert(databaseUrl, serviceUrl, AT_ONCE);
  const done = new JobCounter();
  const runner = await run({
    connectionString: databaseUrl,
    concurrency: AT_ONCE,
    noHandleSignals: true,
    logger: new Logger(() => () => {}),
    taskList: {
      async poll(data) {
        const { target, round } = payload.parse(data);
        await upsert(target, round);
        done.one();
      },
    },
  });
  return async (round) => {
    const all = done.wait(targets.length);
    for (const data of payloadsOf(round)) await runner.addJob('poll', data);
    await all;
  };
}

const ways: Readonly<Record<string, (setup: Setup) => Promise<Round>>> = {
  recorder,
  loop,
  pgBoss,
  graphileWorker,
};

process.once('disconnect', () => process.exit()); // the parent has ended
const [name = '', setupText = ''] = process.argv.slice(2);
const open = ways[name];
if (!open) throw new Error(`there is no way ${name}`);
const setup = setupShape.parse(JSON.parse(setupText));
if (name !== 'recorder') await openTable(setup);
const poll = await open(setup);
process.on('message', (round) => void runTimed(Number(round)));
process.send?.('ready');

async function openTable({ databaseUrl }: Setup): Promise<void> {
  const { sql } = openRecorder({ databaseUrl, serviceUrl: '', rows: 0 });
  await sql.unsafe(CREATE_TABLE);
}

async function runTimed(round: number): Promise<void> {
  const [cpuBefore, startedAt] = [process.cpuUsage(), performance.now()];
  await poll(round);
  const { user, system } = process.cpuUsage(cpuBefore);
  process.send?.({ processor: (user + system) / 1000, milliseconds: performance.now() - startedAt });
}
