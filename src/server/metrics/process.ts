import { readVersion } from '../../lib/version.ts';
import { counter, gauge, histogram, type MetricPart } from './metric.ts';

const build = gauge(
  'chain_recorder_build_info',
  'Always 1: the version of chain-recorder and of Node.js that runs.',
  'version',
  'node_version',
);
const reloadedWell = gauge(
  'chain_recorder_config_last_reload_successful',
  '0 while the configuration file, read anew on SIGHUP, is wrong: the configuration before holds.',
);
const reloadedAt = gauge(
  'chain_recorder_config_last_reload_timestamp_seconds',
  'When the configuration file was read the last time, as Unix time.',
);
const lost = counter(
  'chain_recorder_log_lines_lost_total',
  'Lines of the log of this process that could not be written: the disk is full, or who reads them is gone or too slow.',
);
const runs = counter(
  'chain_recorder_runs_total',
  'Runs that ended in this process, by feed and how they ended.',
  'feed',
  'status',
);
const calls = counter(
  'chain_recorder_upstream_calls_total',
  'Calls of this process to an upstream, by the status of the answer, or why there was no whole one.',
  'upstream',
  'status',
);
const durations = histogram(
  'chain_recorder_upstream_call_duration_seconds',
  'How long the calls of this process to an upstream took, up to the end of the answer or of the wait for it.',
  'upstream',
);

/** Metrics of this process since its start. */
export const processMetrics: MetricPart = {
  name: 'process',
  about:
    'What this process did since it started. Scrape every process: where workers run apart, give them the role `server` too ' +
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
