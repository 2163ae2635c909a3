import type { Status } from '../../reporting/reports/status.ts';
import { counter, gauge, type MetricRow, metricTable, type Sample, samplesIn } from './samples.ts';
import { watchedProbes } from './watched-probes.ts';

/**
 * Cache time of counts of gaps and quarantined items, in ms. The duration of these queries grows with the
 * counts.
 */
const SLOW_COUNTS_MS = 60_000;

export const ledgerMetrics = metricTable({
  name: 'ledgers',
  about: 'Progress of the health ledger of each observer.',
  metrics: {
    lag: gauge(
      'chain_recorder_ledger_lag_seconds',
      'Lag of the settled health ledger of the observer. A minute or more: it is stalled.',
      'observer',
    ),
    active: gauge('chain_recorder_ledger_active', '1 while a process probes for the observer.', 'observer'),
    refused: gauge(
      'chain_recorder_ledger_rejected_probes',
      'Probes whose rows the database rejects: their ledgers are stalled.',
      'observer',
    ),
  },
  rows: ({ sql }) => sql<MetricRow[]>`
    with watched as (${watchedProbes(sql)}),
    observers as (select observer, min(requested_since) as requested_since from watched group by observer)
    select w.observer, greatest(0, extract(epoch from now() - greatest(o.settled_until, w.requested_since)))::float8 as lag,
      coalesce(o.watching, false) as active, coalesce(jsonb_array_length(o.refused), 0) as refused
    from observers w left join reporting_internal.node_observers o using (observer) order by 1`,
});

const RECORDING = {
  last_success_at: gauge(
    'chain_recorder_last_success_timestamp_seconds',
    'Time of the last success of the dataset, as Unix time.',
    'dataset',
  ),
  late_by: gauge(
    'chain_recorder_max_lag_seconds',
    'Lag of the most delayed target of the dataset.',
    'dataset',
  ),
  targets: gauge('chain_recorder_targets', 'Targets of the dataset.', 'dataset'),
  failing: gauge('chain_recorder_failing_targets', 'Targets whose last run failed.', 'dataset'),
  incomplete: gauge(
    'chain_recorder_incomplete_targets',
    'Targets whose successful runs are incomplete.',
    'dataset',
  ),
  rows_today: gauge('chain_recorder_rows_today', 'Rows written today (UTC).', 'dataset'),
  late_targets: gauge(
    'chain_recorder_late_targets',
    'Targets (counted per dataset) without a success for more than three intervals.',
  ),
  stalled: gauge(
    'chain_recorder_stalled_components',
    'Stalled ledgers, schedules, seals and checks, including the recording as a whole.',
  ),
  findings: gauge(
    'chain_recorder_findings',
    'Problems of the recording (reporting.findings), by state and kind.',
    'state',
    'component',
  ),
  openDiscrepancies: gauge(
    'chain_recorder_discrepancies',
    'Open differences between sources (reporting.discrepancies), by check.',
    'check',
  ),
  quarantined: gauge('chain_recorder_quarantined_items', 'Items that could not be decoded.'),
  sealed_until: gauge(
    'chain_recorder_sealed_until_timestamp_seconds',
    'End of the sealed record, exclusive, as Unix time.',
  ),
  gaps: gauge('chain_recorder_gaps', 'Ranges that are missing (reporting.gaps).'),
  day_units: gauge(
    'chain_recorder_budget_units_today',
    'Budget units used today (UTC), where a limit is known.',
    'upstream',
  ),
  rate_limited: gauge(
    'chain_recorder_upstream_rate_limited',
    '1 while calls to the upstream are paused because of its rate limit.',
    'upstream',
  ),
};

function recordingRows(status: Status): MetricRow[] {
  const { late_targets, stalled, quarantined, gaps, seal } = status;
  const findings = new Map<string, { state: string; component: string; findings: number }>();
  for (const { state, component, count } of status.findings) {
    const key = `${state} ${component}`;
    findings.set(key, { state, component, findings: count + (findings.get(key)?.findings ?? 0) });
  }
  return [
    ...status.datasets.map((one) => ({ ...one })),
    { late_targets, stalled, quarantined, gaps, sealed_until: seal?.sealed_until },
    ...findings.values(),
    ...status.discrepancies.map(({ check_name, open }) => ({ check: check_name, openDiscrepancies: open })),
    ...status.budgets.map(({ upstream, day_units, blocked_until }) => ({
      upstream,
      day_units,
      rate_limited: blocked_until !== null,
    })),
  ];
}

/** Returns the state of the recording as samples. */
export const recordingSamples = (status: Status): Sample[] => samplesIn(RECORDING, recordingRows(status));

export const recordingMetrics = metricTable({
  name: 'recording',
  about: 'Health of the recording, as `status` and `/api/status` report it.',
  metrics: RECORDING,
  rows: async ({ status }) => recordingRows(await status()),
});

export const datasetMetrics = metricTable({
  name: 'datasets',
  about: 'Recorded rows and items, by all processes together.',
  metrics: {
    rows: counter('chain_recorder_rows_total', 'Total rows written by all processes.', 'dataset'),
    items: counter('chain_recorder_items_total', 'Total items received by all processes.', 'dataset'),
    every: gauge(
      'chain_recorder_expected_interval_seconds',
      'Interval of the recording of the dataset, if it is recorded repeatedly.',
      'dataset',
    ),
    unsupported: gauge(
      'chain_recorder_unsupported_targets',
      'Targets that the upstream does not serve.',
      'dataset',
    ),
  },
  // Includes targets that are no longer configured, so that the counts never decrease.
  rows: ({ sql }) => sql<MetricRow[]>`
    with written as (
      select dataset, sum(rows_written)::float8 as rows, sum(items)::float8 as items
      from recorder.target_datasets group by dataset
    )
    select w.dataset, w.rows, w.items, extract(epoch from f.expected_every)::float8 as every, f.unsupported::float8
    from written w left join reporting.freshness_by_dataset f using (dataset) order by 1`,
});

export const missingDataMetrics = metricTable({
  name: 'missing',
  about: 'Gaps and quarantined items, by dataset. Counted at most once a minute.',
  ttlMs: SLOW_COUNTS_MS,
  metrics: {
    gaps: gauge(
      'chain_recorder_dataset_gaps',
      'Missing ranges of the dataset. fetchable="true": the range can still be fetched.',
      'dataset',
      'fetchable',
    ),
    quarantined: gauge(
      'chain_recorder_dataset_quarantined_items',
      'Items of the dataset that could not be decoded or stored.',
      'dataset',
    ),
  },
  rows: async ({ sql }) => [
    ...(await sql<MetricRow[]>`
      select dataset, reason = 'not recorded yet' as fetchable, count(*)::float8 as gaps
      from reporting.gaps group by 1, 2 order by 1, 2`),
    ...(await sql<MetricRow[]>`
      select dataset, count(*)::float8 as quarantined from reporting.quarantine group by 1 order by 1`),
  ],
});

export const budgetMetrics = metricTable({
  name: 'budgets',
  about: 'Remaining request budget of the services with a limit in `recorder.yaml` (`upstreams.*.budget`).',
  metrics: {
    limit: gauge(
      'chain_recorder_budget_limit_units',
      'Budget units that the configuration allows for the upstream in a minute or a day (UTC).',
      'upstream',
      'window',
    ),
    left: gauge(
      'chain_recorder_budget_remaining_units',
      'Remaining budget units of the current minute or day (UTC).',
      'upstream',
      'window',
    ),
  },
  rows: async ({ sql, budgets, upstreams }) => {
    const used = await sql<{ upstream: string; minute: number; day: number }[]>`
      select upstream, case when b.minute = date_trunc('minute', now()) then b.minute_units else 0 end::float8 as minute,
        case when b.day = (now() at time zone 'UTC')::date then b.day_units else 0 end::float8 as day
      from recorder.budgets b join unnest(${budgets.map(({ upstream }) => upstream)}::text[],
        ${budgets.map(({ endpoint }) => endpoint)}::text[]) as mine(upstream, endpoint) using (upstream, endpoint)`;
    const services = { chainData: upstreams.chainData, metrics: upstreams.metrics };
    return Object.entries(services).flatMap(([upstream, service]) => {
      const spent = used.find((one) => one.upstream === upstream);
      const row = (window: string, limit: number | undefined, units = 0) =>
        limit === undefined ? [] : [{ upstream, window, limit, left: Math.max(0, limit - units) }];
      return [
        ...row('minute', service?.budget?.perMinute, spent?.minute),
        ...row('day', service?.budget?.perDay, spent?.day),
      ];
    });
  },
});
