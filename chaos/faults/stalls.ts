import { setTimeout as delay } from 'node:timers/promises';
import { percentile } from '../evidence.ts';
import { expectStallReports } from '../stall-reports.ts';
import { Steady } from '../steady.ts';
import type { World } from '../world.ts';
import type { Fault } from './fault.ts';

const POLL_INTERVAL_MS = 5_000;
const PAGES = ['/metrics', '/api/status'] as const;
const ROUNDS = 7;
const AT_ONCE = 20;
/** A page faster than this passes, whatever its factor, ms. */
const FAST_PAGE_MS = 25;

const sandbox = { blocksPerHour: 30 };

const stalledRecording: Fault = {
  numbers: [71],
  title: 'a stalled recording: the worker has ended, the server continues',
  backends: 'each',
  invariants: ['A', 'E', 'K'],
  sandbox,
  async inject(world) {
    const { evidence } = world;
    const steady = await Steady.prepare(world, {});
    const server = steady.launch('server');
    const worker = steady.launch('scheduler,worker');
    await steady.waitUntilRecorded();
    await steady.waitUntilCovered();
    await worker.kill();
    evidence.serve('worker killed');
    await expectStallReports(world, 'a stalled recording', server.address, Date.now(), POLL_INTERVAL_MS);
    const notes = evidence.stallReports.map(({ where, delayMs }) => `${where} ${delayMs ?? 'never'}`);
    evidence.figures.set('reported after ms', notes.join(', '));
    const restarted = steady.launch('scheduler,worker');
    await restarted.waitForLog('recording started');
    await steady.expectRecovery('the worker had ended');
    await steady.stop();
  },
};

const manyRuns: Fault = {
  numbers: [71],
  title: 'three million runs; twenty concurrent readers',
  backends: 'postgres',
  invariants: ['A', 'E', 'G'],
  sandbox,
  async inject(world) {
    const { evidence } = world;
    const runCount = world.setting.options.rows ?? 3_000_000;
    const steady = await Steady.start(world);
    await steady.waitUntilCovered();
    await addRuns(world, 3_000);
    const few = await measureCosts(steady);
    await addRuns(world, runCount);
    evidence.serve('runs', runCount);
    const many = await measureCosts(steady);
    for (const [at, path] of PAGES.entries()) {
      const [before, after] = [few[at] ?? 0, many[at] ?? 0];
      evidence.figures.set(`${path}: ms with 3000 runs, with ${runCount}`, `${before}, ${after}`);
      evidence.bound(
        `${path} with ${runCount} runs, times that with 3000`,
        after / Math.max(before, FAST_PAGE_MS),
        2,
      );
    }
    const startedAt = Date.now();
    const [running] = steady.running;
    const durations: number[] = [];
    while (Date.now() - startedAt < 4 * POLL_INTERVAL_MS) {
      const urls = Array.from({ length: AT_ONCE }, (_, n) => `${running?.address}${PAGES[n % PAGES.length]}`);
      durations.push(...(await Promise.all(urls.map(measureFetch))));
    }
    evidence.times('a page, twenty at once', durations);
    evidence.serve('pages at once', durations.length);
    const [runs] = await world.sql<{ polls: number }[]>`
      select count(*)::int as polls from recorder.runs where started_at > ${new Date(startedAt)} and status = 'done'`;
    evidence.figures.set('polls meanwhile', runs?.polls ?? 0);
    evidence.claim(
      'recording continues during twenty concurrent readers',
      (runs?.polls ?? 0) >= steady.nodeIds.length * 3,
    );
    await steady.expectRecovery('twenty at once');
    await steady.stop();
  },
};

/** Runs of the last days, most of them of removed targets, one in ten with rows and a few failed. */
async function addRuns({ sql }: World, count: number): Promise<void> {
  await sql`
    insert into recorder.runs (source, target_key, datasets, reason, status, worker, started_at, finished_at, items, rows_written, error)
    select t.source, case when n % 100 = 0 then t.target_key else 'made ' || n % 1000 end, '{proposed_blocks}', 'poll',
      case n % 50 when 0 then 'failed' else 'done' end, 'made', at, at, '{3}', array[(n % 10 = 0)::int],
      case n % 50 when 0 then 'HTTP 503' end
    from (select n, now() - n * interval '170 milliseconds' as at from generate_series(1, ${count}::int) n) made
    join (select source, target_key, row_number() over () as place from recorder.targets) t
      on t.place = 1 + n % (select count(*) from recorder.targets)`;
}

/** The median duration of each page without its cache, ms. */
async function measureCosts(steady: Steady): Promise<number[]> {
  const [running] = steady.running;
  const durationsByPage = PAGES.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++)
    for (const [at, path] of PAGES.entries()) {
      await delay(1_100);
      durationsByPage[at]?.push(await measureFetch(`${running?.address}${path}`));
    }
  return durationsByPage.map((durations) => percentile(durations, 0.5));
}

async function measureFetch(url: string): Promise<number> {
  const startedAt = performance.now();
  const answer = await fetch(url);
  await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return Math.round((performance.now() - startedAt) * 10) / 10;
}

export const stallFaults: readonly Fault[] = [stalledRecording, manyRuns];
