import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import type { App } from '../../../src/app/app.ts';
import { activeFeeds, catalogNames } from '../../../src/app/configured-feeds.ts';
import { planCommand } from '../../../src/cli/commands/plan.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { nativeTransactions } from '../../../src/datasets/chain-data/native-transactions.ts';
import { proposedBlocks } from '../../../src/datasets/chain-data/proposed-blocks.ts';
import { stakingTransactions } from '../../../src/datasets/chain-data/staking-transactions.ts';
import { loadStates, planDue } from '../../../src/recording/plan.ts';
import { record } from '../../../src/recording/record.ts';
import { registerTargets } from '../../../src/recording/register.ts';
import { forecast } from '../../../src/reporting/reports/forecast.ts';
import { ManualClock } from '../../support/clock.ts';
import { withDatabase } from '../../support/fixture.ts';
import { type LateBlock, LateIndex } from '../../support/late-index.ts';
import { recordingContext, scriptedFeed } from '../../support/scripted-feed.ts';

const { it, sql } = withDatabase();
const now = Date.UTC(2026, 0, 10, 12);
const DAY = 86_400_000;
/** Items of a target in a day: the blocks of a validator of mainnet, as counted in issues of its service. */
const ITEMS_A_DAY = 84;
const key = 'avax18jma8ppw3nhx5r4ap8clazz0dps7rv5ukulre5';
const chain = '43114';

/** Stores the state of an example whose watch lists are filled, after all of it was polled once. */
async function pollOnce(example: string): Promise<Pick<App, 'config' | 'watched'>> {
  const path = fileURLToPath(new URL(`../../../examples/${example}`, import.meta.url));
  const config = loadConfig(path, catalogNames);
  const watched = activeFeeds({
    ...config,
    watch: {
      ...config.watch,
      nodeIds: ['NodeID-1', 'NodeID-2'],
      addresses: [`P-${key}`, `X-${key}`],
      evmAddresses: [{ chain, address: '0x1' }],
    },
  }).filter(({ targets }) => targets.length > 0);
  await sql`truncate recorder.targets, recorder.coverage cascade`;
  for (const feed of watched) {
    const { source } = feed;
    await registerTargets(sql, feed, now);
    if (!source.range?.index) continue;
    // A page of points spans three months, a page of other items a day.
    const pageSpan =
      source.upstream === 'metrics' ? 90 * DAY : Math.round((source.range.index.page / ITEMS_A_DAY) * DAY);
    await sql`update recorder.targets set poll_requests = 1, max_requests = 1, poll_from = ${now - pageSpan},
      poll_to = ${now}, shown_from = ${source.range.axis === 'time' ? now - pageSpan : null},
      usual_interval_ms = ${source.upstream === 'metrics' ? null : Math.round(DAY / ITEMS_A_DAY)} where source = ${source.name}`;
    await sql`insert into recorder.coverage (dataset, target_key, axis, covered, answered)
      select dataset, target_key, ${source.range.axis}, '{}', int8multirange(int8range(coalesce(expected_from, 0), ${now}))
      from recorder.target_datasets where source = ${source.name}`;
  }
  const polled = new Date(now - 60_000);
  await sql`update recorder.target_datasets set last_success_at = ${polled}, last_planned_at = ${polled}`;
  return { config, watched };
}

/** Reads the rows of the first table that `plan` prints, by column. */
async function printedPlan(example: Pick<App, 'config' | 'watched'>): Promise<Record<string, string>[]> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  await planCommand({ ...example, database: { sql }, clock: () => now }, { json: false });
  const [table = ''] = write.mock.calls
    .map(([text]) => String(text))
    .join('')
    .split('\n\n');
  write.mockRestore();
  const [names = [], ...rows] = table.split('\n').map((line) => line.trim().split(/ {2,}/));
  return rows.map((cells) => Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ''])));
}

it.each(['validator.yaml', 'mainnet.yaml'])(
  'adds at most a fifth to the calls of a day of %s by repeated requests, as plan prints',
  async (example) => {
    const printed = await printedPlan(await pollOnce(example));
    const calls = (row: Record<string, string>, column: string) => Number(row[column] ?? Number.NaN);
    const sum = (rows: typeof printed, column: string) =>
      rows.reduce((total, row) => total + calls(row, column), 0);
    expect(sum(printed, 'calls_per_day')).toBeGreaterThan(1_000);
    for (const upstream of ['chainData', 'metrics', 'nodes']) {
      const some = printed.filter((row) => row.upstream === upstream);
      const [sweeps, day] = [sum(some, 'sweeps_per_day'), sum(some, 'calls_per_day')];
      expect(sweeps, `${upstream}: ${sweeps} of ${day}`).toBeLessThanOrEqual((day - sweeps) / 5);
    }
    const sweepsOf = (name: string) => {
      const row = printed.find(({ datasets }) => datasets?.split(', ').includes(name));
      return row ? calls(row, 'sweeps_per_day') : null;
    };
    const targets = 2 * 3;
    // 14 days of 84 blocks are 12 pages of 100. An older window is requested once in 30 days.
    const blocks = sweepsOf('proposed_blocks') ?? 0;
    expect(blocks).toBeGreaterThanOrEqual(targets * 12);
    expect(blocks).toBeLessThanOrEqual(targets * (12 + 2 * 12));
    expect(sweepsOf('staking_transactions')).toBe(1); // one window of one page
    // Each poll returns 90 days of points: only older windows are requested again.
    if (example === 'mainnet.yaml') expect(sweepsOf('metric_points')).toBeLessThanOrEqual(29);
  },
);

it.each([
  ['proposed_blocks', proposedBlocks, { network: 'm', blockchainId: 'p-chain', nodeId: 'NodeID-1' }],
  ['staking_transactions', stakingTransactions, { network: 'm', addresses: 'avax1' }],
  ['native_transactions', nativeTransactions, { chainId: '1', address: '0x1' }],
] as const)('forecasts %s as a real day costs, up to one page of a sweep', async (name, dataset, target) => {
  const { range, every } = dataset.source;
  if (!range) throw new Error(`${name} has no range`);
  const HISTORY_DAYS = 20;
  const blocks = Array.from({ length: ITEMS_A_DAY * (HISTORY_DAYS + 1) }, (_, number): LateBlock => {
    const at = now - HISTORY_DAYS * DAY + Math.round((number * DAY) / ITEMS_A_DAY / 1000) * 1000;
    return { number, at, indexedAt: at };
  });
  const clock = new ManualClock(now);
  const index = new LateIndex(blocks, clock.read, { page: range.index?.page ?? 100 });
  const feed = scriptedFeed(dataset, target, { range, every });
  feed.script = (window, client) => dataset.source.walk(client, target, window);
  const context = recordingContext(sql, clock.read, index.client);
  const counting: typeof context = {
    ...context,
    open: (...args) => {
      const before = index.calls;
      return {
        ...context.open(...args),
        get usage() {
          const requests = index.calls - before;
          return { requests, units: requests };
        },
      };
    },
  };
  await registerTargets(sql, feed, now);
  const requestsByReason = { poll: 0, sweep: 0, heal: 0 };
  const tick = async () => {
    for (let jobs = await planJobs(); jobs.length > 0; jobs = await planJobs())
      for (const job of jobs) {
        const before = index.calls;
        expect(await record(counting, feed, job, new AbortController().signal)).toMatchObject({
          status: 'done',
        });
        if (job.reason === 'poll' || job.reason === 'sweep' || job.reason === 'heal')
          requestsByReason[job.reason] += index.calls - before;
      }
  };
  const planJobs = async () => planDue(feed, await loadStates(sql, feed), clock.now);
  for (const end = now + 2 * every; clock.now < end; clock.now += every) await tick();
  const [expected] = await forecast(sql, [feed], clock.now);
  Object.assign(requestsByReason, { poll: 0, sweep: 0, heal: 0 });
  for (const end = clock.now + DAY; clock.now < end; clock.now += every) await tick();
  expect(requestsByReason.heal).toBe(0);
  expect(requestsByReason.sweep).toBeGreaterThan(0);
  // The window of a sweep grows during the day, by a page at most.
  const { day: { calls } = { calls: 0 }, sweepsOfDay = 0 } = expected ?? {};
  expect(
    Math.abs(requestsByReason.poll + requestsByReason.sweep - calls),
    `${calls} of ${JSON.stringify(requestsByReason)}`,
  ).toBeLessThanOrEqual(1);
  expect(Math.abs(requestsByReason.sweep - sweepsOfDay)).toBeLessThanOrEqual(1);
});
