import { pino } from 'pino';
import { describe, expect } from 'vitest';
import { validators } from '../../src/datasets/node/validators.ts';
import { withDefaultSettings } from '../../src/recording/active-feed.ts';
import { registerAll, registerTargets } from '../../src/recording/register.ts';
import { retireRemovedTargets } from '../../src/recording/retire-removed-targets.ts';
import { targetKey } from '../../src/recording/target-key.ts';
import { waitUntilBlocked } from '../support/blocked-statements.ts';
import { ManualClock } from '../support/clock.ts';
import { openExplained } from '../support/explain-statements.ts';
import { withDatabase } from '../support/fixture.ts';
import { maxRows } from '../support/plan-steps.ts';
import {
  onlyPage,
  recordingContext,
  run,
  type ScriptedFeed,
  scriptedFeed,
} from '../support/scripted-feed.ts';

const { it, database, sql } = withDatabase({ connection: { lock_timeout: 10_000 } });

const by = { recorder: 'recorder', digest: null };
const target = { node: 'n', subnetId: 's' };
const key = targetKey(target);
const createFeed = () => scriptedFeed(validators, target);

/** Runs an action during a commit of the target, which locks the target and then its datasets. */
async function runDuringCommit(source: string, action: () => Promise<void>, mode: 'at once' | 'waits') {
  let running: Promise<void> | undefined;
  await sql.begin(async (commit) => {
    await commit`update recorder.targets set run_id = null where source = ${source} and target_key = ${key}`;
    if (mode === 'at once') await action();
    else {
      running = action();
      running.catch(() => {}); // the test below checks the refusal
      await waitUntilBlocked(sql);
    }
    await commit`update recorder.target_datasets set items = 7 where source = ${source} and target_key = ${key}`;
  });
  await running;
}

async function selectTargetState(source: string) {
  const [row] = await sql<{ active: boolean; every: number; items: number }[]>`
    select active, every_ms::int as every, items::int from recorder.target_datasets where source = ${source}`;
  return row;
}

describe('registration during a commit', () => {
  const withInterval = (feed: ScriptedFeed, milliseconds: number): ScriptedFeed => ({
    ...feed,
    datasets: feed.datasets.map((dataset) => ({ ...dataset, every: milliseconds })),
  });

  it('waits for nothing if nothing changes', async () => {
    const feed = createFeed();
    const { name } = feed.source;
    await registerAll(sql, [feed], 0, by);
    await runDuringCommit(name, () => registerAll(sql, [feed], 1, by), 'at once');
    expect(await selectTargetState(name)).toEqual({ active: true, every: 60_000, items: 7 });
  });

  it('waits for the target first, as a commit does, so that they never deadlock', async () => {
    const feed = createFeed();
    const { name } = feed.source;
    await registerTargets(sql, feed, 0);
    await runDuringCommit(name, () => registerTargets(sql, withInterval(feed, 5_000), 1), 'waits');
    expect(await selectTargetState(name)).toEqual({ active: true, every: 5_000, items: 7 });
  });

  it('does so also for a removed target, alone or with its source', async () => {
    for (const remove of [
      (feed: ScriptedFeed) => registerTargets(sql, { ...feed, targets: [] }, 1),
      () => registerAll(sql, [], 1, by),
    ]) {
      const feed = createFeed();
      const { name } = feed.source;
      await registerTargets(sql, feed, 0);
      await runDuringCommit(name, () => remove(feed), 'waits');
      expect(await selectTargetState(name)).toEqual({ active: false, every: 60_000, items: 7 });
    }
  });
});

describe('removal of a target while another run claims it', () => {
  it('waits for the target first, too', async () => {
    const feed = withDefaultSettings({ source: validators.source, datasets: [validators] }, [target]);
    const { name } = feed.source;
    const by = { recorder: 'ending', digest: null };
    await registerAll(sql, [feed], 0, by);
    await registerAll(sql, [], 1, by);
    const context = recordingContext(sql, new ManualClock(2).read);
    const logLines: string[] = [];
    const log = pino({ level: 'info' }, { write: (line: string) => void logLines.push(line) });
    let removal: Promise<void> | undefined;
    let claim: Promise<unknown> | undefined;
    await sql.begin(async (first) => {
      await first`select from recorder.target_datasets where source = ${name} for update`;
      removal = retireRemovedTargets(context, by, log);
      await waitUntilBlocked(sql);
      claim = sql.begin(async (run) => {
        await run`update recorder.targets set lease_until = lease_until where source = ${name}`;
        await run`update recorder.target_datasets set failures = failures + 1 where source = ${name}`;
      });
      claim.catch(() => {});
      await waitUntilBlocked(sql, 2);
    });
    await Promise.all([removal, claim]);
    expect(logLines).toHaveLength(1);
  });
});

it('a process whose clock is ahead leaves no time after that of the database, by which nothing would be late', async () => {
  const feed = scriptedFeed(validators, { node: 'ahead', subnetId: 's' });
  feed.script = () => onlyPage({ validators: [] }, { whole: false });
  const clock = new ManualClock(Date.now() + 7_200_000);
  await registerTargets(sql, feed, clock.now);
  await run(recordingContext(sql, clock.read), feed);
  const [state] = await sql`
    select f.last_success_at <= now() as success, f.requested_since <= now() as requested, f.incomplete_since <= now() as incomplete,
      (select bool_and(r.started_at <= r.finished_at and r.finished_at <= now()) from reporting.runs r where r.target = f.target) as runs
    from reporting.freshness f where f.target = ${targetKey({ node: 'ahead', subnetId: 's' })}`;
  expect(state).toEqual({ success: true, requested: true, incomplete: true, runs: true });
});

describe('registration of thousands of targets', () => {
  const COUNT = 3_000;
  const CONSTANT = 5;
  /** The number of executions until PostgreSQL plans the statements without their parameters. */
  const ROUNDS = 8;

  it('never compares all of them with all of them, however little memory a statement may use', async () => {
    const { sql: own, commits, steps } = await openExplained(database.url, { work_mem: '64kB' });
    try {
      const targets = Array.from({ length: COUNT }, (_, n) => ({ node: `n${n}`, subnetId: 's' }));
      const feed = { ...scriptedFeed(validators, target), targets };
      const by = { recorder: 'thousands', digest: null };
      const rowCounts: number[] = [];
      for (let round = 1; round <= ROUNDS; round++) {
        await registerAll(own, [feed], round, by);
        rowCounts.push(maxRows(steps()));
      }
      await registerAll(own, [], ROUNDS + 1, by);
      rowCounts.push(maxRows(steps()));
      expect(Math.min(...rowCounts)).toBeGreaterThanOrEqual(COUNT);
      expect(Math.max(...rowCounts)).toBeLessThan(CONSTANT * COUNT);
    } finally {
      await Promise.all([own.end(), commits.end()]);
    }
  });
});
