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
import { type FailureKind, UpstreamFailure } from '../../src/upstreams/failure.ts';
import { commitsFor } from './commits.ts';

/** Responses of a test to a run: a walk without an upstream, or an `ask` that returns the responses. */
export type Walk = (window: Window | null, client: UpstreamClient) => AsyncIterable<SourcePage>;

/** A feed over tables of the catalog whose responses the test sets. */
export interface ScriptedFeed extends ActiveFeed {
  /** The walk of the next runs. */
  script: Walk;
}

let feeds = 0;

/** Creates a feed of datasets of the catalog, with its own source. */
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
    walk: (client, _target, window) => feed.script(window, client),
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

/** A walk over pages that are given beforehand. */
export async function* pagesOf(pages: readonly SourcePage[]): AsyncGenerator<SourcePage> {
  yield* pages;
}

/** A walk that fails at its first call. */
export const failingWalk = (kind: FailureKind, message: string): Walk =>
  async function* () {
    yield* [];
    throw new UpstreamFailure(kind, message);
  };

/** The pages of a complete list, by their bodies. */
export const pagesWith = (bodies: readonly unknown[]): AsyncGenerator<SourcePage> =>
  pagesOf(bodies.map((body, at) => ({ body, proven: null, last: at === bodies.length - 1, whole: true })));

/** The single page of a complete response. */
export function onlyPage(body: unknown, more: Partial<SourcePage> = {}): AsyncGenerator<SourcePage> {
  return pagesOf([{ body, proven: null, last: true, whole: true, ...more }]);
}

const nothing = () => Promise.reject(new Error('this walk sends no request'));

/** A recording context whose runs call `ask`, or no upstream. */
export function recordingContext(
  sql: postgres.Sql,
  clock: Clock,
  client: Partial<Omit<RunClient, 'now'>> = {},
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
      pageSize: (maximum) => maximum,
      ...client,
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

/** Executes a run whose target must not be taken. */
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

/** A promise that is settled from outside: tests wait for it, or block others with it. */
export function gate<T = void>(): { readonly opened: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => {};
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open: (value) => open(value) };
}
