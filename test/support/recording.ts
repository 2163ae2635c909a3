import type postgres from 'postgres';
import type {
  Dataset,
  Range,
  Source,
  SourcePage,
  Target,
  UpstreamClient,
  Window,
} from '../../src/datasets/contract.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { type ActiveFeed, DEFAULT_SHRINK_CONFIRMATION } from '../../src/recording/active-feed.ts';
import type { RecordingContext, RunClient, RunResult } from '../../src/recording/context.ts';
import type { Confirmation } from '../../src/recording/histories/absence.ts';
import type { Job, Reason } from '../../src/recording/job.ts';
import { record } from '../../src/recording/record.ts';
import { commitsFor } from './commits.ts';

/** How a test answers a run's questions: a walk without an upstream, or an `ask` that gives the answers. */
export type Walk = (window: Window | null, ask: UpstreamClient) => AsyncIterable<SourcePage>;

/** A feed over tables of the catalog whose answers the test decides. */
export interface ScriptedFeed extends ActiveFeed {
  /** What the next runs walk through. */
  script: Walk;
}

let feeds = 0;

/** Makes a feed of datasets of the catalog, with a source of its own. */
export function scriptedFeed(
  datasets: Dataset | readonly Dataset[],
  target: Target,
  more: { range?: Range; every?: number; confirmShrink?: Confirmation } = {},
): ScriptedFeed {
  const every = more.every ?? 60_000;
  feeds += 1;
  const source: Source = {
    name: `scripted-${feeds}`,
    upstream: 'nodes',
    every,
    weight: 1,
    calls: 1,
    ...(more.range ? { range: more.range } : {}),
    targets: () => [target],
    walk: (ask, _target, window) => feed.script(window, ask),
  };
  const feed: ScriptedFeed = {
    source,
    datasets: [datasets].flat().map((dataset) => ({
      ...dataset,
      source,
      every,
      since: null,
      confirmShrink: more.confirmShrink ?? DEFAULT_SHRINK_CONFIRMATION,
    })),
    targets: [target],
    every,
    script: () => pagesOf([]),
  };
  return feed;
}

/** A walk over pages that are known beforehand. */
export async function* pagesOf(pages: readonly SourcePage[]): AsyncGenerator<SourcePage> {
  yield* pages;
}

/** The one page of an answer that comes whole. */
export function onlyPage(body: unknown, more: Partial<SourcePage> = {}): AsyncGenerator<SourcePage> {
  return pagesOf([{ body, proven: null, last: true, whole: true, ...more }]);
}

const nothing = () => Promise.reject(new Error('this walk asks nothing'));

/** A recording context whose runs ask `ask`, or nobody. */
export function recordingContext(
  sql: postgres.Sql,
  clock: Clock,
  ask: Partial<Omit<RunClient, 'now'>> = {},
): RecordingContext {
  return {
    sql,
    commits: commitsFor(sql),
    clock,
    worker: 'test',
    open: (): RunClient => ({
      get: nothing,
      post: nothing,
      rpc: nothing,
      probe: nothing,
      pageSize: (most) => most,
      ...ask,
      usage: { requests: 1, units: 1 },
      get now() {
        return clock();
      },
    }),
  };
}

/** A job for the feed's target. */
export function jobFor(feed: ActiveFeed, window: Window | null = null, reason: Reason = 'poll'): Job {
  const [target] = feed.targets;
  if (!target) throw new Error('the feed has no target');
  return { target, window, reason };
}

/** Makes a run that must not find its target taken. */
export async function run(
  context: RecordingContext,
  feed: ActiveFeed,
  window: Window | null = null,
  signal: AbortSignal = new AbortController().signal,
  reason: Reason = 'poll',
): Promise<RunResult> {
  const result = await record(context, feed, jobFor(feed, window, reason), signal);
  if (typeof result === 'string') throw new Error(`the run was ${result}`);
  return result;
}

/** A promise with its ends outside: something that a test waits for, or makes others wait for. */
export function gate<T = void>(): { readonly opened: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => {};
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open: (value) => open(value) };
}
