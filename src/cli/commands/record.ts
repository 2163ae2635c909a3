import type { App } from '../../app/app.ts';
import { createScope } from '../../app/configured-feeds.ts';
import { getExitCode, interruptedText } from '../../app/exit-code.ts';
import { probeOnce } from '../../daemon/prober-role.ts';
import { registerUnlessRunning } from '../../daemon/register-feed.ts';
import { catalog } from '../../datasets/catalog.ts';
import { OPEN_END, type Range, type Target, type Window } from '../../datasets/contract.ts';
import { UsageError } from '../../lib/errors.ts';
import { formatTime } from '../../lib/output-stream.ts';
import { printJson, printNotice, printTable } from '../../lib/print.ts';
import type { ActiveFeed, ConfiguredFeed } from '../../recording/active-feed.ts';
import type { RunResult } from '../../recording/context.ts';
import type { Job } from '../../recording/job.ts';
import {
  findUncoveredWindows,
  jointState,
  loadStates,
  planAll,
  type TargetState,
  targetStateOf,
} from '../../recording/plan.ts';
import { runJobs } from '../../recording/record-in-foreground.ts';
import { targetKey } from '../../recording/target-key.ts';
import { createProgressBar } from '../output/progress-bar.ts';
import { findFeed, getFeed, parseBoth, parseInstantOption } from '../select-targets.ts';
import { matchingTargets } from './targets.ts';

/**
 * Command `record DATASET [--target KEY=VALUE ...]`: fetches all missing and revisable ranges of the targets
 * now.
 * @returns the exit code
 */
export async function recordCommand(
  app: App,
  dataset: string,
  options: { target: readonly string[]; json: boolean },
  signal: AbortSignal,
): Promise<number> {
  const targetsOf = (feed: ConfiguredFeed) => matchingTargets(feed, createScope(app.config), options.target);
  const ledger = findFeed(app.ledgers, dataset);
  if (ledger) return probeOnce(app, ledger, targetsOf(ledger), options.json, signal);
  const feed = getFeed(app.feeds, dataset);
  const targets = targetsOf(feed);
  await registerUnlessRunning(app, feed);
  const states = await loadStates(app.database.sql, feed);
  return runAndPrint(app, feed, planAll(feed, targets, states, app.clock()), options.json, signal);
}

/** Options of `backfill`. */
export interface BackfillOptions {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly fromHeight?: string | undefined;
  readonly toHeight?: string | undefined;
  readonly target: readonly string[];
  readonly again: boolean;
  readonly json: boolean;
}

/**
 * Command `backfill DATASET --from T --to T [--again]`, or with `--from-height N --to-height N`: fetches the
 * uncovered parts of a past range, or with `--again` the whole range, newest first.
 * @returns the exit code
 */
export async function backfillCommand(
  app: App,
  dataset: string,
  options: BackfillOptions,
  signal: AbortSignal,
): Promise<number> {
  const [{ feed, targets }, range] = parseBoth(
    () => {
      rejectUnsupportedBackfill(getFeed(app.watched, dataset), dataset);
      const found = getFeed(app.feeds, dataset);
      return { feed: found, targets: matchingTargets(found, createScope(app.config), options.target) };
    },
    () => parseBackfillRange(findFeed(app.feeds, dataset), options, app.clock()),
  );
  const { from } = range;
  await registerUnlessRunning(app, feed);
  const states = await loadStates(app.database.sql, feed);
  const { keptSince } = targetStateOf(states, targets[0] ?? {}, dataset);
  if (feed.source.range?.axis === 'time' && keptSince !== null && keptSince > from)
    printNotice(
      `${dataset} has a retention: data before ${formatTime(new Date(keptSince))} is not fetched again`,
    );
  const jobs = targets.flatMap((target) => {
    const state = jointState(feed, states, target);
    const to = range.to ?? startOfRecord(state, dataset, target);
    return findUncoveredWindows(feed, target, state, { from, to }, options.again).map(
      (window): Job => ({ target, window, reason: 'backfill' }),
    );
  });
  return runAndPrint(app, feed, jobs, options.json, signal);
}

/**
 * Parses the range of a backfill, in ms since 1970 or as heights.
 * @param feed the feed of the dataset; undefined if the axis is unknown, so that the options of times are
 * parsed
 * @returns the range; its end is null if the range ends at the start of a target's record
 * @throws UsageError if an option is missing, invalid or of the other axis
 */
function parseBackfillRange(
  feed: ActiveFeed | undefined,
  { from, to, fromHeight, toHeight }: BackfillOptions,
  now: number,
): { readonly from: number; readonly to: number | null } {
  if (feed?.source.range?.axis === 'height') {
    if (from !== undefined || to !== undefined)
      throw new UsageError([
        '--from, --to: the dataset is recorded by height: use --from-height and --to-height',
      ]);
    const [first, end] = parseBoth(
      () => parseHeight('--from-height', fromHeight),
      () => (toHeight === undefined ? null : parseHeight('--to-height', toHeight)),
    );
    if (end !== null && first >= end)
      throw new UsageError([`--from-height ${fromHeight}: must be below --to-height`]);
    return { from: first, to: end };
  }
  if (fromHeight !== undefined || toHeight !== undefined)
    throw new UsageError([
      '--from-height, --to-height: the dataset is recorded by time: use --from and --to',
    ]);
  const [begin, end] = parseBoth(
    () => parseInstantOption('--from', from ?? '…'),
    () => parseInstantOption('--to', to ?? '…'),
  );
  const until = Math.min(end, now);
  if (begin >= until) throw new UsageError([`--from ${from}: must be before --to, and in the past`]);
  return { from: begin, to: until };
}

function parseHeight(option: string, text: string | undefined): number {
  if (text !== undefined && /^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError([`${option} ${text ?? '…'}: must be a height, such as 0`]);
}

/**
 * Returns the lowest recorded height of a target.
 * @throws UsageError if no height is recorded
 */
function startOfRecord({ answered }: TargetState, dataset: string, target: Target): number {
  const [first] = answered;
  if (first) return answered.reduce((least, { from }) => Math.min(least, from), first.from);
  throw new UsageError([
    `--to-height: is required, because no height of ${dataset} ${targetKey(target)} is recorded yet`,
  ]);
}

/**
 * Rejects a dataset whose past cannot be requested.
 * @throws UsageError with the reason, and the datasets whose past can be requested
 */
function rejectUnsupportedBackfill({ source: { range } }: ConfiguredFeed, dataset: string): void {
  if (range && isBackfillable(range)) return;
  const why = range
    ? `the dataset is recorded by height from the first block automatically; "heal ${dataset}" fills gaps`
    : 'the upstream returns only the current state; past states cannot be requested';
  const others = catalog
    .filter(({ source }) => source.range && isBackfillable(source.range))
    .map(({ name }) => name);
  throw new UsageError([
    `backfill ${dataset}: ${why}. Datasets that can be backfilled: ${others.join(', ')}`,
  ]);
}

const isBackfillable = ({ axis, lookback }: Range) =>
  axis === 'time' || lookback !== Number.POSITIVE_INFINITY;

/**
 * Runs jobs in the foreground with a progress bar, and prints their results.
 * @returns the exit code
 */
export async function runAndPrint(
  app: App,
  feed: ActiveFeed,
  jobs: readonly Job[],
  json: boolean,
  signal: AbortSignal,
): Promise<number> {
  const axis = feed.source.range?.axis;
  const progress = createProgressBar(jobs, axis, !json);
  const { runs, busy, left } = await runJobs(app.recording, feed, jobs, signal, progress).finally(() =>
    progress.stop(),
  );
  if (json) printJson({ runs: runs.map((run) => toJsonRun(axis, run)), busy, left });
  else {
    printTable(
      runs.map((run) => toTableRow(axis, run)),
      jobs.length === 0 ? 'nothing is missing' : 'no runs',
    );
    for (const target of busy) printNotice(`${target}: another worker is recording it`);
    for (const { target, error } of runs) if (error) printNotice(`${target}: ${error}`);
  }
  if (left > 0) printNotice(`${interruptedText(left, jobs.length)}`);
  return getExitCode(runs, busy, left);
}

/** Formats the bounds of a window as times or heights. */
function bounds(
  axis: string | undefined,
  { from, to }: Window,
): { from: string | number; to: string | number } {
  if (axis === 'time') return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
  return { from, to: to === OPEN_END ? 'newest' : to };
}

function toJsonRun(axis: string | undefined, { runId, window, rowsWritten, later, ...run }: RunResult) {
  return {
    run_id: runId,
    ...run,
    window: window && bounds(axis, window),
    rows_written: Object.fromEntries(run.datasets.map((name, at) => [name, rowsWritten[at] ?? 0])),
    worth_trying_again: later,
  };
}

function toTableRow(axis: string | undefined, run: RunResult) {
  const { runId, target, window, status, pages, items, rowsWritten, quarantined } = run;
  return {
    run: runId,
    target,
    window: window ? windowText(axis, window) : 'now',
    status,
    pages,
    items,
    'rows written': rowsWritten.reduce((sum, count) => sum + count, 0),
    quarantined,
  };
}

function windowText(axis: string | undefined, window: Window): string {
  if (axis === 'time') return `${formatTime(new Date(window.from))} … ${formatTime(new Date(window.to))}`;
  const { from, to } = bounds(axis, window);
  return `${from} … ${to}`;
}
