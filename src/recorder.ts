import { openApp } from './app/app.ts';
import { scopeOf } from './app/configured-feeds.ts';
import { matchingTargets } from './cli/commands/targets.ts';
import { feedOf, oneOf } from './cli/select-targets.ts';
import { registerUnlessRunning } from './daemon/register-feed.ts';
import { rolesOf } from './daemon/roles.ts';
import { upCommand } from './daemon/up.ts';
import { UsageError } from './lib/errors.ts';
import { loadStates, planAll } from './recording/plan.ts';
import { runJobs } from './recording/record-in-foreground.ts';

/** How a recorder is opened. Secrets, the database and the queue come from the environment, as for the commands. */
export interface RecorderOptions {
  /** The configuration file; absent: `RECORDER_CONFIG`, else `recorder.yaml`, else the bundled simulated network. */
  readonly config?: string;
}

/** What is recorded of a dataset. */
export interface RecordOptions {
  /** Only targets that match, such as `{ node: 'validator-1' }`; absent: all that are configured. */
  readonly target?: Readonly<Record<string, string>>;
  /** Stops the recording; what is committed stays. */
  readonly signal?: AbortSignal;
}

/** How the run of one target went. */
export interface RecordedRun {
  /** As in `reporting.runs`. */
  readonly runId: number;
  readonly datasets: readonly string[];
  /** What was asked about, as `key=value`. */
  readonly target: string;
  readonly status: string;
  /** Rows written, a number for each of `datasets`. */
  readonly rowsWritten: readonly number[];
  /** Why it failed; null: it did not. */
  readonly error: string | null;
}

/** Not everything was recorded that was asked for. What the runs committed stays; the same call again goes on. */
export class NotAllRecorded extends Error {
  override readonly name = 'NotAllRecorded';
  /** The runs that were made, as {@link Recorder.record} gives them. */
  readonly runs: readonly RecordedRun[];
  /** The targets that another process was recording all the time. */
  readonly busy: readonly string[];
  /** How many runs are left because the signal aborted. */
  readonly left: number;

  constructor(dataset: string, runs: readonly RecordedRun[], busy: readonly string[], left: number) {
    const why = [
      ...busy.map((target) => `another worker is recording ${target}`),
      ...(left > 0 ? [`it was stopped, and ${left} ${left === 1 ? 'run is' : 'runs are'} left`] : []),
    ];
    super(`${dataset}: not everything was recorded: ${why.join('; ')}`);
    this.runs = runs;
    this.busy = busy;
    this.left = left;
  }
}

/** A recorder inside another program. */
export interface Recorder {
  /** The database it records to, for `drizzle` and `chain-recorder/schema`. Has the password in it. */
  readonly databaseUrl: string;
  /**
   * Records now what the targets of a dataset lack, as `chain-recorder record` does. Needs no queue. Node health is
   * recorded by {@link Recorder.run} only.
   * @returns the runs, also those that failed
   * @throws UsageError when there is no such dataset or target; NotAllRecorded when another process has a target, or the signal
   * aborted before the end
   */
  record(dataset: string, options?: RecordOptions): Promise<RecordedRun[]>;
  /**
   * Does what `chain-recorder up` does, until the signal comes.
   * @param roles `scheduler`, `worker`, `server`; absent: all of them
   */
  run(signal: AbortSignal, roles?: readonly string[]): Promise<void>;
  /** Closes its connections, and the embedded database where nobody else uses it. */
  close(): Promise<void>;
}

/**
 * Opens a recorder: reads the configuration, brings the database to this version and connects to it.
 * @throws UsageError when something is wrong with the configuration, the environment or the database
 */
export async function openRecorder(options: RecorderOptions = {}): Promise<Recorder> {
  const app = await openApp({ config: options.config, migrate: true, logLevel: 'info' });
  return {
    databaseUrl: app.databaseUrl,
    close: () => app.close(),
    run: (signal, roles) => upCommand(app, rolesOf(roles?.join(',')), signal),
    record: async (dataset, { target = {}, signal = new AbortController().signal } = {}) => {
      if (oneOf(app.ledgers, dataset))
        throw new UsageError([`${dataset}: is recorded by a recorder that runs`]);
      const feed = feedOf(app.feeds, dataset);
      const pairs = Object.entries(target).map(([key, value]) => `${key}=${value}`);
      const targets = matchingTargets(feed, scopeOf(app.config), pairs);
      await registerUnlessRunning(app, feed);
      const states = await loadStates(app.database.sql, feed);
      const jobs = planAll(feed, targets, states, app.clock());
      const { runs: made, busy, left } = await runJobs(app.recording, feed, jobs, signal);
      const runs = made.map(({ runId, datasets, target: about, status, rowsWritten, error }) => {
        return { runId, datasets, target: about, status, rowsWritten, error };
      });
      if (busy.length > 0 || left > 0) throw new NotAllRecorded(dataset, runs, busy, left);
      return runs;
    },
  };
}
