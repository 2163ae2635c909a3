import { readVersion } from '../../lib/version.ts';
import { counter, gauge, histogram, type MetricPart } from './samples.ts';

const build = gauge(
  'chain_recorder_build_info',
  'Always 1. The labels are the running versions of chain-recorder and Node.js.',
  'version',
  'node_version',
);
const reloadedWell = gauge(
  'chain_recorder_config_last_reload_successful',
  '0 after a reload (SIGHUP) of an invalid configuration file: the previous configuration stays active.',
);
const reloadedAt = gauge(
  'chain_recorder_config_last_reload_timestamp_seconds',
  'Time of the last reload of the configuration file, as Unix time.',
);
const lost = counter(
  'chain_recorder_log_lines_dropped_total',
  'Log lines of this process that could not be written: the disk is full, or the reader of the pipe is too slow or has exited.',
);
const runs = counter(
  'chain_recorder_runs_total',
  'Runs that ended in this process, by feed and status.',
  'feed',
  'status',
);
const calls = counter(
  'chain_recorder_upstream_calls_total',
  'Calls of this process to an upstream, by HTTP status or cause of failure.',
  'upstream',
  'status',
);
const durations = histogram(
  'chain_recorder_upstream_call_duration_seconds',
  'Duration of the calls of this process to an upstream, up to the end of the response or the timeout.',
  'upstream',
);

export const processMetrics: MetricPart = {
  name: 'process',
  about:
    'Counts of this process since its start. Scrape every process: if workers run in processes of their own, give them the role `server` too ' +
    '(`up --roles worker,server`), with a port of their own.',
  families: [build, reloadedWell, reloadedAt, lost, runs, calls, durations],
  reader: ({ counts }) => {
    const version = readVersion();
    return async () => [
      build.of(1, version, process.versions.node),
      reloadedWell.of(counts.configuration.applied ? 1 : 0),
      reloadedAt.of(counts.configuration.at / 1000),
      lost.of(counts.linesLost()),
      ...counts.runs.map(({ feed, status, count }) => runs.of(count, feed, status)),
      ...counts.calls.map(({ upstream, status, count }) => calls.of(count, upstream, status)),
      ...counts.durations.map(([upstream, took]) => durations.of(took, upstream)),
    ];
  },
};
