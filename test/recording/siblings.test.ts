import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { nativeTransactions } from '../../src/datasets/chain-data/native-transactions.ts';
import { proposedBlocks } from '../../src/datasets/chain-data/proposed-blocks.ts';
import type { Range, Window } from '../../src/datasets/contract.ts';
import { validatorUptime } from '../../src/datasets/node/validator-uptime.ts';
import { validators } from '../../src/datasets/node/validators.ts';
import { type ActiveFeed, selectDatasets } from '../../src/recording/active-feed.ts';
import type { Job } from '../../src/recording/job.ts';
import { loadStates, planDue } from '../../src/recording/plan.ts';
import { record } from '../../src/recording/record.ts';
import { registerTargets } from '../../src/recording/register.ts';
import { blocksTarget } from '../support/blocks.ts';
import { ManualClock } from '../support/clock.ts';
import { withDatabase } from '../support/fixture.ts';
import {
  onlyPage,
  pagesOf,
  recordingContext,
  type ScriptedFeed,
  scriptedFeed,
} from '../support/scripted-feed.ts';

const { it, sql } = withDatabase();
const minute = 60_000;
const hour = 60 * minute;
const start = Date.UTC(2026, 0, 10);

/** The configured interval of each dataset of a feed, in ms. Default: not recorded. */
type Intervals = Readonly<Record<string, number | undefined>>;

function withIntervals(feed: ScriptedFeed, intervals: Intervals): ActiveFeed {
  const datasets = feed.datasets.flatMap((dataset) => {
    const every = intervals[dataset.name];
    return every === undefined ? [] : [{ ...dataset, every }];
  });
  return { ...feed, datasets, every: Math.min(...datasets.map(({ every }) => every)) };
}

const signal = new AbortController().signal;

/** A recorder of one feed with its own clock: it checks once a minute what is due, and runs it. */
class Recorder {
  readonly clock = new ManualClock(start);
  readonly feed: ScriptedFeed;
  readonly jobs: (Job & { readonly datasets: readonly string[]; readonly at: number })[] = [];
  #configured: ActiveFeed;

  constructor(feed: ScriptedFeed, intervals: Intervals) {
    this.feed = feed;
    this.#configured = withIntervals(feed, intervals);
  }

  /** Changes the configuration; nothing is checked before the next minute. */
  configure(intervals: Intervals): void {
    this.#configured = withIntervals(this.feed, intervals);
  }

  /** Lets minutes pass. @param isStopped the recorder does not run meanwhile */
  async pass(minutes: number, isStopped = false): Promise<void> {
    for (let elapsed = 0; elapsed < minutes; elapsed++) {
      if (!isStopped) await this.#recordDue();
      this.clock.now += minute;
    }
  }

  async #recordDue(): Promise<void> {
    if (this.#configured.datasets.length === 0) return;
    const context = recordingContext(sql, this.clock.read);
    await registerTargets(sql, this.#configured, this.clock.now);
    for (let jobs = await this.#planDueJobs(); jobs.length > 0; jobs = await this.#planDueJobs())
      for (const job of jobs) {
        const { datasets } = selectDatasets(this.#configured, job.datasets);
        this.jobs.push({ ...job, datasets: datasets.map(({ name }) => name), at: this.clock.now });
        await record(context, this.#configured, job, signal);
      }
  }

  async #planDueJobs(): Promise<Job[]> {
    return planDue(this.#configured, await loadStates(sql, this.#configured), this.clock.now);
  }

  /** The recorded or missing ranges of a dataset in `reporting`, in minutes from the start. */
  async ranges(view: 'coverage' | 'gaps', dataset: string): Promise<[number, number, string][]> {
    const rows = await sql<{ range_start: Date; range_end: Date; reason: string }[]>`
      select r.range_start, r.range_end, r.reason from reporting.${sql(view)} r
      join recorder.targets t on t.target_key = r.target and t.source = ${this.feed.source.name}
      where r.dataset = ${dataset} order by 1`;
    const minutes = (at: Date) => Math.round((at.getTime() - start) / minute);
    return rows.map(({ range_start, range_end, reason }) => [
      minutes(range_start),
      minutes(range_end),
      reason,
    ]);
  }

  times(dataset: string): number[] {
    return this.jobs
      .filter(({ datasets }) => datasets.includes(dataset))
      .map(({ at }) => Math.round((at - start) / minute));
  }
}

let targets = 0;
function createFeed(): ScriptedFeed {
  targets += 1;
  const feed = scriptedFeed([validators, validatorUptime], { node: `sibling-${targets}`, subnetId: 's' });
  feed.script = () => onlyPage({ validators: [] });
  return feed;
}
const both = { validators: minute, validator_uptime: minute };

describe('observations of one source', () => {
  it('have their own intervals: a rare one neither slows its sibling nor is polled more often', async () => {
    const recorder = new Recorder(createFeed(), { validators: minute, validator_uptime: 5 * minute });
    await recorder.pass(11);
    expect(recorder.times('validators')).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(recorder.times('validator_uptime')).toEqual([0, 5, 10]);
    // One call serves both where both are due.
    expect(recorder.jobs.length).toBe(11);
    expect(await recorder.ranges('gaps', 'validators')).toEqual([]);
    expect(await recorder.ranges('gaps', 'validator_uptime')).toEqual([]);
    expect(await recorder.ranges('coverage', 'validator_uptime')).toEqual([[0, 10, 'recorded']]);
  });

  it('have their own gaps: one that was disabled has one, with the reason, and its sibling none', async () => {
    const recorder = new Recorder(createFeed(), both);
    await recorder.pass(10);
    recorder.configure({ validators: minute });
    await recorder.pass(20);
    recorder.configure(both);
    await recorder.pass(10);
    expect(await recorder.ranges('gaps', 'validators')).toEqual([]);
    expect(await recorder.ranges('coverage', 'validators')).toEqual([[0, 39, 'recorded']]);
    expect(await recorder.ranges('gaps', 'validator_uptime')).toEqual([
      [9, 30, 'not observed: the configuration did not contain it'],
    ]);
  });

  it('that are added later start then', async () => {
    const recorder = new Recorder(createFeed(), { validator_uptime: minute });
    await recorder.pass(10);
    recorder.configure(both);
    await recorder.pass(10);
    expect(await recorder.ranges('coverage', 'validators')).toEqual([[10, 19, 'recorded']]);
    expect(await recorder.ranges('gaps', 'validators')).toEqual([]);
    expect(await recorder.ranges('coverage', 'validator_uptime')).toEqual([[0, 19, 'recorded']]);
  });

  it('tile their time independently, for any enabled periods', async () => {
    const phase = fc.record({
      minutes: fc.integer({ min: 1, max: 12 }),
      off: fc.boolean(),
      validators: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
      uptime: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(phase, { minLength: 1, maxLength: 5 }), async (phases) => {
        const recorder = new Recorder(createFeed(), both);
        await recorder.pass(1);
        for (const { minutes, off, validators: interval, uptime } of phases) {
          recorder.configure({
            ...(interval === undefined ? {} : { validators: interval * minute }),
            ...(uptime === undefined ? {} : { validator_uptime: uptime * minute }),
          });
          await recorder.pass(minutes, off);
        }
        for (const dataset of ['validators', 'validator_uptime']) {
          const gaps = await recorder.ranges('gaps', dataset);
          // A gap may contain single polls: they do not divide missing time with one reason.
          const covered = await recorder.ranges('coverage', dataset);
          const times = recorder.times(dataset);
          expect(covered.filter(([from, to]) => !times.includes(from) || !times.includes(to))).toEqual([]);
          expect(times.filter((at) => !covered.some(([from, to]) => from <= at && at <= to))).toEqual([]);
          const coverage = covered.filter(
            ([from, to]) => from < to || gaps.every(([start, end]) => from <= start || from >= end),
          );
          const tiles = [...coverage, ...gaps].sort(([a, b], [c, d]) => a - c || b - d);
          expect(tiles[0]?.[0]).toBe(0);
          // No hole, and no gap over covered time.
          tiles.slice(1).forEach(([from], at) => {
            expect(from).toBe(tiles[at]?.[1]);
          });
          expect(tiles.at(-1)?.[1]).toBe(times.at(-1));
        }
      }),
      {
        numRuns: 12,
        // Two gaps with a single poll between them.
        examples: [
          [
            [
              { minutes: 6, off: false, validators: undefined, uptime: undefined },
              { minutes: 3, off: false, validators: undefined, uptime: 3 },
              { minutes: 1, off: false, validators: undefined, uptime: 1 },
            ],
          ],
        ],
      },
    );
  });
});

const range: Range = { axis: 'time', span: () => 10 * minute, head: () => minute, settle: 0, lookback: hour };

/** Two lists of one source over time, whose one page contains the complete window. */
function createRangedFeed(): ScriptedFeed {
  const feed = scriptedFeed(
    [proposedBlocks, { ...nativeTransactions, items: () => [] }],
    { ...blocksTarget(), chainId: 'c', address: 'a' },
    { range, every: minute },
  );
  feed.script = (window) => pagesOf([{ body: { blocks: [] }, proven: window, last: true, whole: true }]);
  return feed;
}
const lists = { proposed_blocks: minute, native_transactions: minute };
const containsRange = (windows: readonly Window[], from: number, to: number) =>
  windows.some((window) => window.from <= from && to <= window.to);

describe('ranges of one source', () => {
  it('are healed independently: a list that is enabled later gets its past, without requests for its sibling', async () => {
    const recorder = new Recorder(createRangedFeed(), { proposed_blocks: minute });
    await recorder.pass(3);
    recorder.configure(lists);
    const before = recorder.jobs.length;
    await recorder.pass(4);
    const healed = recorder.jobs.slice(before).filter(({ reason }) => reason === 'heal');
    expect(healed.length).toBeGreaterThan(3);
    expect(healed.every(({ datasets }) => datasets.join() === 'native_transactions')).toBe(true);
    for (const dataset of ['proposed_blocks', 'native_transactions']) {
      expect(await recorder.ranges('gaps', dataset)).toEqual([]);
      const [[from = 0, to = 0] = []] = await recorder.ranges('coverage', dataset);
      expect(containsRange([{ from, to }], -57, 5)).toBe(true);
    }
  });

  it('find the gap of a list that was disabled for a while, and fill it', async () => {
    const recorder = new Recorder(createRangedFeed(), lists);
    await recorder.pass(3);
    recorder.configure({ proposed_blocks: minute });
    await recorder.pass(40);
    recorder.configure(lists);
    await recorder.pass(3);
    expect(await recorder.ranges('gaps', 'native_transactions')).toEqual([]);
    expect((await recorder.ranges('coverage', 'native_transactions')).length).toBe(1);
  });

  it('find no gap in the time since the last poll of a rare one', async () => {
    const recorder = new Recorder(createRangedFeed(), {
      proposed_blocks: minute,
      native_transactions: 30 * minute,
    });
    await recorder.pass(62);
    // A poll may run a tenth of its interval early; the part below its window is healed at once.
    expect([...new Set(recorder.times('native_transactions'))]).toEqual([0, 27, 54]);
    const [[, to = 0] = []] = await recorder.ranges('coverage', 'native_transactions');
    expect(to).toBe(54);
    expect(await recorder.ranges('gaps', 'native_transactions')).toEqual([]);
  });
});

describe('a part of a feed', () => {
  it('is the same object every time, and the feed itself if nothing is excluded', () => {
    const feed = createFeed();
    expect(selectDatasets(feed, ['validators'])).toBe(selectDatasets(feed, ['validators', 'unknown']));
    expect(selectDatasets(feed, ['validators', 'validator_uptime'])).toBe(feed);
    expect(selectDatasets(feed, undefined)).toBe(feed);
    expect(selectDatasets(feed, ['validators']).datasets.map(({ name }) => name)).toEqual(['validators']);
  });
});
