import type { App } from '../app.ts';
import { UsageError } from '../errors.ts';
import { scopeOf } from '../feeds.ts';
import type { RunResult } from '../recording/context.ts';
import type { ActiveFeed } from '../recording/feed.ts';
import { runJobs } from '../recording/foreground.ts';
import type { Job } from '../recording/lease.ts';
import { targetKey } from '../recording/lease.ts';
import { loadStates, missingIn, planAll, registerTargets } from '../recording/plan.ts';
import { exitAfter } from './exit.ts';
import { printJson, printTable } from './output.ts';
import { progressOver } from './progress.ts';
import { feedOf, instantOf, matchingTargets } from './selection.ts';

/** `record DATASET [--target KEY=VALUE ...]`: everything the targets lack, now. @returns the exit code */
export async function recordCommand(
  app: App,
  dataset: string,
  options: { target: readonly string[]; json: boolean },
  signal: AbortSignal,
): Promise<number> {
  const feed = feedOf(app.feeds, dataset);
  const targets = matchingTargets(feed, scopeOf(app.config), options.target);
  await registerTargets(app.database.sql, feed, app.clock());
  const states = await loadStates(app.database.sql, feed);
  return runAndTell(app, feed, planAll(feed, targets, states, app.clock()), options.json, signal);
}

/** `backfill DATASET --from T --to T`: what of a past range is not covered, newest first. @returns the exit code */
export async function backfillCommand(
  app: App,
  dataset: string,
  options: { from: string; to: string; target: readonly string[]; json: boolean },
  signal: AbortSignal,
): Promise<number> {
  const feed = feedOf(app.feeds, dataset);
  const targets = matchingTargets(feed, scopeOf(app.config), options.target);
  const [from, to] = [
    instantOf('--from', options.from),
    Math.min(instantOf('--to', options.to), app.clock()),
  ];
  if (from >= to) throw new UsageError([`--from ${options.from}: must be before --to, and in the past`]);
  if (feed.source.range?.axis !== 'time')
    throw new UsageError([`backfill ${dataset}: it is observed as it is now; its past cannot be asked for`]);
  await registerTargets(app.database.sql, feed, app.clock());
  const states = await loadStates(app.database.sql, feed);
  const jobs = targets.flatMap((target) =>
    missingIn(feed, target, states.get(targetKey(target)), { from, to }).map(
      (window): Job => ({ target, window, reason: 'backfill' }),
    ),
  );
  return runAndTell(app, feed, jobs, options.json, signal);
}

/** Runs jobs in the foreground with a progress bar and tells what the runs did. @returns the exit code */
export async function runAndTell(
  app: App,
  feed: ActiveFeed,
  jobs: readonly Job[],
  json: boolean,
  signal: AbortSignal,
): Promise<number> {
  const progress = progressOver(jobs, !json);
  const { runs, busy } = await runJobs(app.recording, feed, jobs, signal, progress).finally(() =>
    progress.stop(),
  );
  if (json) printJson({ runs: runs.map(forPrograms), busy });
  else {
    printTable(runs.map(forPeople), jobs.length === 0 ? 'nothing is missing' : 'no run was made');
    for (const target of busy) process.stderr.write(`${target}: another worker is recording it\n`);
    for (const { target, error } of runs) if (error) process.stderr.write(`${target}: ${error}\n`);
  }
  return exitAfter(runs, busy);
}

const iso = (milliseconds: number) => new Date(milliseconds).toISOString();

function forPrograms({ runId, window, rowsWritten, later, ...run }: RunResult) {
  return {
    run_id: runId,
    ...run,
    window: window && { from: iso(window.from), to: iso(window.to) },
    rows_written: Object.fromEntries(run.datasets.map((name, at) => [name, rowsWritten[at] ?? 0])),
    worth_trying_again: later,
  };
}

function forPeople({ runId, target, window, status, pages, items, rowsWritten, quarantined }: RunResult) {
  return {
    run: runId,
    target,
    window: window ? `${iso(window.from).slice(0, 16)}Z … ${iso(window.to).slice(0, 16)}Z` : 'now',
    status,
    pages,
    items,
    'rows written': rowsWritten.reduce((sum, count) => sum + count, 0),
    quarantined,
  };
}
