import { readSeenQueues } from '../../reporting/reports/queues.ts';
import { counter, gauge, type MetricRow, metricTable } from './samples.ts';

const PROCESS_STATES = ['running', 'outdated', 'lost'] as const;

export const workMetrics = metricTable({
  name: 'queues',
  about:
    'The queues and the processes, of all recorders in the database. A lost process is reported for a day, or until another one starts.',
  metrics: {
    jobs: gauge(
      'chain_recorder_queue_jobs',
      'Jobs in the queue at the last check: waiting or active.',
      'recorder',
      'queue',
      'state',
    ),
    unhealthy: gauge(
      'chain_recorder_queue_unhealthy',
      '1 while the queue is paused or unavailable.',
      'recorder',
      'queue',
    ),
    seen_at: gauge(
      'chain_recorder_queue_last_check_timestamp_seconds',
      'Time of the last check of the queue, as Unix time.',
      'recorder',
      'queue',
    ),
    processes: gauge(
      'chain_recorder_processes',
      'Processes of up by state: running, outdated (the recorder has a newer configuration), or lost (no heartbeat for 20 s).',
      'recorder',
      'state',
    ),
  },
  rows: async ({ sql }) => [
    ...(await readSeenQueues(sql)).flatMap(({ recorder, queue, waiting, active, error, seen_at }) => [
      { recorder, queue, state: 'waiting', jobs: waiting },
      { recorder, queue, state: 'active', jobs: active },
      { recorder, queue, unhealthy: error !== null, seen_at },
    ]),
    ...(await sql<MetricRow[]>`
      select p.recorder, s.state, count(*) filter (where p.state = s.state)::float8 as processes
      from reporting_internal.processes p cross join unnest(${[...PROCESS_STATES]}::text[]) with ordinality s(state, place)
      where p.state <> 'stopped' and p.seen_at > now() - interval '1 day' group by 1, 2, s.place order by 1, s.place`),
  ],
});

export const sealingMetrics = metricTable({
  name: 'seals',
  about:
    'The seals of the record. The end of the sealed record: `chain_recorder_sealed_until_timestamp_seconds`.',
  metrics: {
    seals: counter('chain_recorder_seals_total', 'Seals created.'),
    sealed_at: gauge('chain_recorder_last_seal_timestamp_seconds', 'Time of the newest seal, as Unix time.'),
    signed: gauge('chain_recorder_last_seal_signed', '1 if the newest seal is signed.'),
  },
  rows: async ({ sql }) => {
    const rows = await sql<MetricRow[]>`
      select seal as seals, sealed_at, signature is not null as signed from reporting_internal.seal_heads order by seal desc limit 1`;
    return rows.length > 0 ? rows : [{ seals: 0 }];
  },
});

export const exportMetrics = metricTable({
  name: 'exports',
  about: 'Scheduled exports (`exports` in recorder.yaml), of all recorders in the database.',
  metrics: {
    until: gauge(
      'chain_recorder_exported_until_timestamp_seconds',
      'End of the exported record, as Unix time; no sample if nothing was exported yet.',
      'recorder',
      'destination',
    ),
    every: gauge(
      'chain_recorder_export_interval_seconds',
      'Interval of the export.',
      'recorder',
      'destination',
    ),
    failures: gauge(
      'chain_recorder_export_failures',
      'Consecutive failed exports; 0: the last one succeeded.',
      'recorder',
      'destination',
    ),
    rows: gauge('chain_recorder_export_rows', 'Rows that the last export wrote.', 'recorder', 'destination'),
    bytes: gauge(
      'chain_recorder_export_bytes',
      'Bytes that the last export wrote.',
      'recorder',
      'destination',
    ),
  },
  rows: ({ sql }) => sql<MetricRow[]>`
    select recorder, destination, extract(epoch from expected_every)::float8 as every, exported_at as until,
      failures::float8 as failures, rows::float8 as rows, bytes::float8 as bytes from reporting_internal.exports`,
});

export const changeSinkMetrics = metricTable({
  name: 'changes',
  about: 'Progress of each [sink of the change feed](../how-to/change-feed.md).',
  metrics: {
    lag: gauge(
      'chain_recorder_change_sink_lag_seconds',
      'Age of the oldest change that the sink has not accepted; 0 if the sink has accepted all changes.',
      'recorder',
      'sink',
    ),
    failing: gauge(
      'chain_recorder_change_sink_failing',
      '1 while the sink accepts no changes.',
      'recorder',
      'sink',
    ),
    sent: counter(
      'chain_recorder_change_sink_sent_total',
      'Changes that the sink accepted.',
      'recorder',
      'sink',
    ),
  },
  rows: ({ sql }) => sql<MetricRow[]>`
    select recorder, sink, coalesce(greatest(0, extract(epoch from now() - waiting_since)), 0)::float8 as lag,
      failing_since is not null as failing, sent::float8 as sent from reporting_internal.change_sinks order by 1, 2`,
});

export const replicaMetrics = metricTable({
  name: 'replicas',
  about:
    'The replicas that pages, reports and exports read from (`REPORTING_DATABASE_URL`), at their last check within a minute.',
  metrics: {
    readable: gauge(
      'chain_recorder_replica_readable',
      '1 while the replica is available and is a copy of the primary, else 0.',
      'replica',
    ),
    lag_seconds: gauge(
      'chain_recorder_replica_lag_seconds',
      'Lag behind the primary, exact to about five seconds; no sample: unknown.',
      'replica',
    ),
    lag_bytes: gauge(
      'chain_recorder_replica_lag_bytes',
      'WAL of the primary that the replica has not replayed, in bytes; no sample: unknown.',
      'replica',
    ),
  },
  rows: async ({ status }) =>
    (await status()).replicas.map((one) => ({ ...one, readable: one.error === null })),
});

export const diskMetrics = metricTable({
  name: 'space',
  about: 'Disk space of the record. Queried at most once a minute.',
  metrics: {
    database: gauge('chain_recorder_database_size_bytes', 'Size of the database on disk.'),
    perDay: gauge(
      'chain_recorder_database_growth_bytes_per_day',
      'Growth per day, at the rate of the last sealed days. No sample while it is unknown.',
    ),
    free: gauge(
      'chain_recorder_disk_free_bytes',
      'Free space on the disk of the embedded database. No sample for a server of your own.',
    ),
  },
  rows: async ({ disk }) => {
    const { database, perDay, free } = await disk();
    return [{ database, perDay, free }];
  },
});
