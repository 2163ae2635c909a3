import type { App } from '../../app/app.ts';
import { getExitCode, interruptedText } from '../../app/exit-code.ts';
import { registerUnlessRunning } from '../../daemon/register-feed.ts';
import { UsageError } from '../../lib/errors.ts';
import { printJson, printNotice, printTable } from '../../lib/print.ts';
import type { RunResult } from '../../recording/context.ts';
import type { Job } from '../../recording/job.ts';
import { jointState, loadStates, missingWindows } from '../../recording/plan.ts';
import { runJobs } from '../../recording/record-in-foreground.ts';
import { splitWindow } from '../../recording/windows.ts';
import { recordedNamed } from '../../reporting/recorded-datasets.ts';
import { createProgressBar } from '../output/progress-bar.ts';
import { unknownDatasetText } from '../select-targets.ts';

/** Command `coverage [DATASET]`: prints recorded and missing ranges, with reasons. */
export async function coverageCommand(
  app: App,
  dataset: string | undefined,
  options: { json: boolean },
): Promise<void> {
  refuseUnknown(dataset);
  const { sql } = app.database;
  const only = dataset === undefined ? sql`` : sql`where dataset = ${dataset}`;
  const [states, ranges] = await Promise.all([
    sql`
      select dataset, count(*)::int as expected,
        (count(*) filter (where state = 'covered'))::int as covered,
        (count(*) filter (where state = 'empty'))::int as empty,
        (count(*) filter (where state in ('failed', 'failing')))::int as failed,
        (count(*) filter (where state = 'never requested'))::int as never_requested,
        (count(*) filter (where state = 'not supported'))::int as not_supported,
        sum(gaps)::int as gaps
      from reporting_internal.coverage_states ${only} group by dataset order by dataset`,
    sql`
      select dataset, target, range_start, range_end, first_height, end_height, reason from reporting.coverage ${only}
      union all
      select dataset, target, range_start, range_end, first_height, end_height, reason from reporting.gaps ${only}
      order by dataset, target, range_start, first_height`,
  ]);
  if (options.json) {
    printJson({ states, ranges });
    return;
  }
  const unregistered = dataset === undefined ? 'no dataset is' : `${dataset} is not`;
  printTable(
    states,
    `${unregistered} registered: start the recorder, or record a dataset that the configuration watches`,
  );
  // Without a dataset, only the missing ranges are printed; with a dataset, all ranges.
  const listed = dataset === undefined ? ranges.filter(({ reason }) => reason !== 'recorded') : ranges;
  if (states.length + listed.length === 0) return;
  process.stdout.write('\n');
  printTable(
    listed.map(({ dataset, target, range_start, range_end, first_height, end_height, reason }) => ({
      dataset,
      target,
      from: range_start ?? first_height,
      to: range_end ?? end_height,
      reason,
    })),
    'no gaps',
  );
}

/**
 * Command `heal [DATASET]`: fetches missing ranges that are still available.
 * @returns the exit code
 */
export async function healCommand(
  app: App,
  dataset: string | undefined,
  options: { json: boolean },
  signal: AbortSignal,
): Promise<number> {
  refuseUnknown(dataset);
  const runs: RunResult[] = [];
  const busy: string[] = [];
  let [left, all] = [0, 0];
  for (const feed of app.feeds) {
    if (!feed.source.range || (dataset !== undefined && !feed.datasets.some(({ name }) => name === dataset)))
      continue;
    await registerUnlessRunning(app, feed);
    const states = await loadStates(app.database.sql, feed);
    const jobs = feed.targets.flatMap((target) => {
      const state = jointState(feed, states, target);
      const holes = missingWindows(feed, target, state, app.clock()).slice(1);
      const length = feed.source.range?.perRun ?? Number.POSITIVE_INFINITY;
      return holes
        .flatMap((window) => splitWindow(window, length))
        .map((window): Job => ({ target, window, reason: 'heal' }));
    });
    const progress = createProgressBar(jobs, feed.source.range?.axis, !options.json);
    const result = await runJobs(app.recording, feed, jobs, signal, progress).finally(() => progress.stop());
    runs.push(...result.runs);
    busy.push(...result.busy);
    left += result.left;
    all += jobs.length;
  }
  const rows = runs.reduce((sum, run) => sum + run.rowsWritten.reduce((total, count) => total + count, 0), 0);
  const failed = runs.filter(({ status }) => status === 'failed');
  if (options.json) printJson({ runs: runs.length, rows_written: rows, failed, busy, left });
  else {
    process.stdout.write(`${runs.length} gaps processed, ${rows} rows written, ${failed.length} failed\n`);
    for (const { feed, target, error } of failed) printNotice(`${feed} ${target}: ${error}`);
  }
  if (left > 0) printNotice(`${interruptedText(left, all)}`);
  return getExitCode(runs, busy, left);
}

function refuseUnknown(dataset: string | undefined): void {
  if (dataset !== undefined && !recordedNamed(dataset)) throw new UsageError([unknownDatasetText(dataset)]);
}
