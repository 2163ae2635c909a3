import { openApp } from './app/app.ts';
import { createScope } from './app/configured-feeds.ts';
import { matchingTargets } from './cli/commands/targets.ts';
import { findFeed, getFeed } from './cli/select-targets.ts';
import { registerUnlessRunning } from './daemon/register-feed.ts';
import { parseRoles } from './daemon/roles.ts';
import { upCommand } from './daemon/up.ts';
import { UsageError } from './lib/errors.ts';
import { loadStates, planAll } from './recording/plan.ts';
import { runJobs } from './recording/record-in-foreground.ts';

/**
 * Options for opening a recorder. Secrets, the database and the queue come from the environment, as for the
 * commands.
 */
export interface RecorderOptions {
  /**
   * Path of the configuration file. Default: `RECORDER_CONFIG`, else `recorder.yaml`, else the bundled
   * simulated network.
   */
  readonly config?: string;
}

/** Options for recording a dataset. */
export interface RecordOptions {
  /** Records only matching targets, such as `{ node: 'validator-1' }`. Default: all configured targets. */
  readonly target?: Readonly<Record<string, string>>;
  /** Stops the recording. Committed rows stay. */
  readonly signal?: AbortSignal;
}

/** Result of the run of one target. */
export interface RecordedRun {
  /** Id of the run in `reporting.runs`. */
  readonly runId: number;
  readonly datasets: readonly string[];
  /** The target, as `key=value`. */
  readonly target: string;
  readonly status: string;
  /** Rows written: one number per entry of `datasets`. */
  readonly rowsWritten: readonly number[];
  /** Reason of a failure; null if the run succeeded. */
  readonly error: string | null;
}

/**
 * Error of an incomplete recording. Committed rows stay, and a repetition of the call continues the
 * recording.
 */
export class NotAllRecorded extends Error {
  override readonly name = 'NotAllRecorded';
  /** Results of the completed runs, as {@link Recorder.record} returns them. */
  readonly runs: readonly RecordedRun[];
  /** Targets that another process was recording during the whole call. */
  readonly busy: readonly string[];
  /** Number of runs that are left because the signal aborted. */
  readonly left: number;

  constructor(dataset: string, runs: readonly RecordedRun[], busy: readonly string[], left: number) {
    const why = [
      ...busy.map((target) => `another worker is recording ${target}`),
      ...(left > 0
        ? [`the recording was stopped, and ${left} ${left === 1 ? 'run is' : 'runs are'} left`]
        : []),
    ];
    super(`${dataset}: not everything was recorded: ${why.join('; ')}`);
    this.runs = runs;
    this.busy = busy;
    this.left = left;
  }
}

/** A recorder inside another program. */
export interface Recorder {
  /**
   * URL of the recorder's database, for `drizzle` and `chain-recorder/schema`. The URL contains the password.
   */
  readonly databaseUrl: string;
  /**
   * Records the missing rows of a dataset's targets now, as `chain-recorder record` does. Needs no queue.
   * Node health is recorded by {@link Recorder.run} only.
   * @returns the results of the runs, including failed runs
   * @throws UsageError if there is no such dataset or target; NotAllRecorded if another process holds a
   * target, or the signal aborted before the end
   */
  record(dataset: string, options?: RecordOptions): Promise<RecordedRun[]>;
  /**
   * Runs `chain-recorder up` until the signal aborts.
   * @param roles `scheduler`, `worker`, `server`. Default: all.
   */
  run(signal: AbortSignal, roles?: readonly string[]): Promise<void>;
  /** Closes the connections, and the embedded database if no other process uses it. */
  close(): Promise<void>;
}

/**
 * Opens a recorder: reads the configuration, migrates the database to this version and connects to the
 * database.
 * @throws UsageError if the configuration, the environment or the database is invalid
 */
export async function openRecorder(options: RecorderOptions = {}): Promise<Recorder> {
  const app = await openApp({ config: options.config, migrate: true, logLevel: 'info' });
  return {
    databaseUrl: app.databaseUrl,
    close: () => app.close(),
    run: (signal, roles) => upCommand(app, parseRoles(roles?.join(',')), signal),
    record: async (dataset, { target = {}, signal = new AbortController().signal } = {}) => {
      if (findFeed(app.ledgers, dataset))
        throw new UsageError([
          `${dataset}: a running recorder already records this dataset: stop that recorder first`,
        ]);
      const feed = getFeed(app.feeds, dataset);
      const pairs = Object.entries(target).map(([key, value]) => `${key}=${value}`);
      const targets = matchingTargets(feed, createScope(app.config), pairs);
      await registerUnlessRunning(app, feed);
      const states = await loadStates(app.database.sql, feed);
      const jobs = planAll(feed, targets, states, app.clock());
      const { runs: results, busy, left } = await runJobs(app.recording, feed, jobs, signal);
      const runs = results.map(({ runId, datasets, target: about, status, rowsWritten, error }) => {
        return { runId, datasets, target: about, status, rowsWritten, error };
      });
      if (busy.length > 0 || left > 0) throw new NotAllRecorded(dataset, runs, busy, left);
      return runs;
    },
  };
}
