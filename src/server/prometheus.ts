import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Status } from '../reports/status.ts';

/** Metrics of this process: memory, CPU, and how late its event loop is. */
export function processMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/**
 * Metrics of the recording, read from PostgreSQL, so that every process gives the same.
 * @param status null: the database did not answer
 */
export function recordingMetrics(status: Status | null): Registry {
  const registry = new Registry();
  const total = (name: string, help: string, value: number) =>
    new Gauge({ name: `chain_recorder_${name}`, help, registers: [registry] }).set(value);
  total('database_reachable', '0 while the database gives no answer.', status ? 1 : 0);
  if (!status) return registry;
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `chain_recorder_${name}`, help, labelNames: ['dataset'], registers: [registry] });
  const lastSuccess = gauge(
    'last_success_timestamp_seconds',
    'When the dataset was last recorded, as Unix time.',
  );
  const late = gauge('late_seconds', 'How late the latest target of the dataset is.');
  const targets = gauge('targets', 'Targets of the dataset.');
  const failing = gauge('failing_targets', 'Targets whose last run failed.');
  const incomplete = gauge('incomplete_targets', 'Targets of which every success leaves something out.');
  const rows = gauge('rows_today', 'Rows written today (UTC).');
  for (const one of status.datasets) {
    const labels = { dataset: one.dataset };
    if (one.last_success_at) lastSuccess.set(labels, one.last_success_at.getTime() / 1000);
    if (one.late_by !== null) late.set(labels, one.late_by);
    targets.set(labels, one.targets);
    failing.set(labels, one.failing);
    incomplete.set(labels, one.incomplete);
    rows.set(labels, one.rows_today);
  }
  total(
    'late_targets',
    'Datasets of targets that were not recorded for longer than three intervals.',
    status.late_targets,
  );
  total(
    'standing_still',
    'Ledgers, schedules, seals, checks, and the recording as a whole, that stand still.',
    status.standing_still,
  );
  const found = new Gauge({
    name: 'chain_recorder_findings',
    help: 'Whatever does not stand as it should (reporting.findings), by state and kind.',
    labelNames: ['state', 'what'],
    registers: [registry],
  });
  for (const { state, what, count } of status.findings) found.inc({ state, what }, count);
  const discrepancies = new Gauge({
    name: 'chain_recorder_discrepancies',
    help: 'What sources say differently of the same things, and still do (reporting.discrepancies), by check.',
    labelNames: ['check'],
    registers: [registry],
  });
  for (const { check_name, standing } of status.discrepancies)
    discrepancies.set({ check: check_name }, standing);
  total('quarantined_items', 'Items that could not be decoded.', status.quarantined);
  if (status.seal)
    total(
      'sealed_until_timestamp_seconds',
      'What was recorded before is sealed, as Unix time.',
      status.seal.sealed_until.getTime() / 1000,
    );
  total('gaps', 'Ranges that are missing (reporting.gaps).', status.gaps);
  const upstreamGauge = (name: string, help: string) =>
    new Gauge({ name: `chain_recorder_${name}`, help, labelNames: ['upstream'], registers: [registry] });
  const units = upstreamGauge('budget_units_today', 'Budget units used today (UTC), where a limit is known.');
  const blocked = upstreamGauge('blocked', '1 while the upstream asked to be left alone.');
  for (const { upstream, day_units, blocked_until } of status.budgets) {
    units.set({ upstream }, day_units);
    blocked.set({ upstream }, blocked_until === null ? 0 : 1);
  }
  return registry;
}
