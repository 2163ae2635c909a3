import { Presets, SingleBar } from 'cli-progress';
import type { Job } from '../../recording/job.ts';
import type { JobCallbacks } from '../../recording/record-in-foreground.ts';

/**
 * Creates a progress bar over jobs, by the answered share of their windows. It is only shown on a terminal.
 */
export function createProgressBar(jobs: readonly Job[], wanted: boolean): JobCallbacks & { stop(): void } {
  if (!wanted || !process.stderr.isTTY || jobs.length === 0) return { stop: () => {} };
  const bar = new SingleBar(
    {
      stream: process.stderr,
      // The text after the bar has up to 50 characters.
      barsize: Math.min(40, Math.max(0, (process.stderr.columns || 80) - 50)),
      format: '{bar} {percentage} % | {runs}/{jobs} runs | {rows} rows | {duration_formatted}',
    },
    Presets.shades_classic,
  );
  const lengths = new Map(jobs.map((job) => [job, 0]));
  let [runs, rows] = [0, 0];
  bar.start(jobs.length * 1000, 0, { runs, rows, jobs: jobs.length });
  const show = () => {
    const done = [...lengths.values()].reduce((sum, part) => sum + part, 0);
    bar.update(Math.round(done * 1000), { runs, rows });
  };
  return {
    covered(job, window) {
      if (job.window && window)
        lengths.set(job, Math.min(1, (window.to - window.from) / (job.window.to - job.window.from)));
      show();
    },
    finished(job, result) {
      lengths.set(job, 1);
      runs += 1;
      rows += result.rowsWritten.reduce((sum, count) => sum + count, 0);
      show();
    },
    stop: () => bar.stop(),
  };
}
