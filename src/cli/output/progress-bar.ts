import { Presets, SingleBar } from 'cli-progress';
import { OPEN_END } from '../../datasets/contract.ts';
import { steadyClock } from '../../lib/clock.ts';
import { printNotice } from '../../lib/print.ts';
import type { Job } from '../../recording/job.ts';
import type { JobCallbacks } from '../../recording/record-in-foreground.ts';

/** Interval of the progress lines without a terminal, in ms. */
const LINE_INTERVAL_MS = 10_000;

const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** Progress of jobs: the completed parts of their windows. */
class Progress {
  readonly #began = steadyClock();
  readonly #shares: Map<Job, number>;
  /** Number of heights of all jobs; null if the jobs have no heights, or the range of a job has no end. */
  readonly #heights: number | null;
  rows = 0;
  finishedRuns = 0;

  constructor(jobs: readonly Job[], axis: 'time' | 'height' | undefined) {
    this.#shares = new Map(jobs.map((job) => [job, 0]));
    const isCounted = axis === 'height' && jobs.every(({ window }) => window && window.to < OPEN_END);
    this.#heights = isCounted ? jobs.reduce((sum, { window }) => sum + lengthOf(window), 0) : null;
  }

  set(job: Job, share: number): void {
    this.#shares.set(job, Math.min(1, share));
  }

  /**
   * Completed share of all windows, from 0 to 1. Windows of heights are weighted by their length, other
   * windows equally.
   */
  get share(): number {
    let [done, all] = [0, 0];
    for (const [job, share] of this.#shares) {
      const weight = this.#heights === null ? 1 : lengthOf(job.window);
      done += weight * share;
      all += weight;
    }
    return all === 0 ? 1 : done / all;
  }

  /** Describes the completed part, the rate, and the remaining time at this rate. */
  get text(): string {
    const seconds = (steadyClock() - this.#began) / 1000;
    const { share } = this;
    const done = this.#heights === null ? null : share * this.#heights;
    const rate = (done ?? this.rows) / seconds;
    const parts = [
      ...(done === null
        ? [`${this.finishedRuns}/${this.#shares.size} runs`, `${number.format(this.rows)} rows`]
        : [`${number.format(done)} of ${number.format(this.#heights ?? 0)} heights`]),
      ...(seconds >= 1 && rate > 0 ? [`${number.format(rate)}/s`] : []),
      ...(seconds >= 1 && share > 0 && share < 1
        ? [`${timeLeft((seconds * (1 - share)) / share)} left`]
        : []),
    ];
    return parts.join(' | ');
  }
}

/** Units of the remaining time, in seconds, from the longest. */
const TIME_UNITS = [
  ['days', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

/** Formats a duration in the longest unit of which the duration has at least two, rounded up. */
function timeLeft(seconds: number): string {
  const [unit, length] = TIME_UNITS.find(([, length]) => seconds >= 2 * length) ?? ['s', 1];
  return `${number.format(Math.ceil(seconds / length))} ${unit}`;
}

const lengthOf = (window: Job['window']) => (window ? window.to - window.from : 0);

/**
 * Creates a display of the progress of jobs: a bar on a terminal, and otherwise a line every 10 s.
 * @param axis axis of the windows of the jobs
 */
export function createProgressBar(
  jobs: readonly Job[],
  axis: 'time' | 'height' | undefined,
  isEnabled: boolean,
): JobCallbacks & { stop(): void } {
  if (!isEnabled || jobs.length === 0) return { stop: () => {} };
  const progress = new Progress(jobs, axis);
  const display = process.stderr.isTTY ? showBar(progress) : showLines(progress);
  return {
    covered(job, window) {
      if (job.window && window) progress.set(job, lengthOf(window) / lengthOf(job.window));
      display.update();
    },
    finished(job, result) {
      progress.set(job, 1);
      progress.finishedRuns++;
      progress.rows += result.rowsWritten.reduce((sum, count) => sum + count, 0);
      display.update();
    },
    stop: () => display.stop(),
  };
}

interface Display {
  update(): void;
  stop(): void;
}

function showBar(progress: Progress): Display {
  const bar = new SingleBar(
    {
      stream: process.stderr,
      // The text after the bar has up to 60 characters.
      barsize: Math.min(40, Math.max(0, (process.stderr.columns || 80) - 60)),
      format: '{bar} {percentage} % | {text}',
    },
    Presets.shades_classic,
  );
  bar.start(1000, 0, { text: progress.text });
  return {
    update: () => bar.update(Math.floor(progress.share * 1000), { text: progress.text }),
    stop: () => bar.stop(),
  };
}

function showLines(progress: Progress): Display {
  let last = steadyClock();
  return {
    update() {
      if (steadyClock() - last < LINE_INTERVAL_MS) return;
      last = steadyClock();
      printNotice(`${Math.floor(progress.share * 100)} % | ${progress.text}`);
    },
    stop: () => {},
  };
}
