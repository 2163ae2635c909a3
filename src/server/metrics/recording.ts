import type { Status } from '../../reports/status.ts';
import { gauge, type Sample } from './family.ts';
import type { MetricPart } from './part.ts';

const name = (rest: string) => `chain_recorder_${rest}`;

const lastSuccess = gauge(
  name('last_success_timestamp_seconds'),
  'When the dataset was last recorded, as Unix time.',
  'dataset',
);
const late = gauge(name('max_lag_seconds'), 'How late the latest target of the dataset is.', 'dataset');
const targets = gauge(name('targets'), 'Targets of the dataset.', 'dataset');
const failing = gauge(name('failing_targets'), 'Targets whose last run failed.', 'dataset');
const incomplete = gauge(
  name('incomplete_targets'),
  'Targets of which every success leaves something out.',
  'dataset',
);
const rowsToday = gauge(name('rows_today'), 'Rows written today (UTC).', 'dataset');
const lateTargets = gauge(
  name('late_targets'),
  'Datasets of targets that were not recorded for longer than three intervals.',
);
const standingStill = gauge(
  name('stalled_components'),
  'Ledgers, schedules, seals, checks, and the recording as a whole, that stand still.',
);
const findings = gauge(
  name('findings'),
  'Whatever does not stand as it should (reporting.findings), by state and kind.',
  'state',
  'what',
);
const discrepancies = gauge(
  name('discrepancies'),
  'What sources say differently of the same things, and still do (reporting.discrepancies), by check.',
  'check',
);
const quarantined = gauge(name('quarantined_items'), 'Items that could not be decoded.');
const sealedUntil = gauge(
  name('sealed_until_timestamp_seconds'),
  'What was recorded before is sealed, as Unix time.',
);
const gaps = gauge(name('gaps'), 'Ranges that are missing (reporting.gaps).');
const unitsToday = gauge(
  name('budget_units_today'),
  'Budget units used today (UTC), where a limit is known.',
  'upstream',
);
const blocked = gauge(
  name('upstream_rate_limited'),
  '1 while the upstream is not called because of a rate limit that it sent.',
  'upstream',
);

/** How the recording stands, as samples. */
export function recordingSamples(status: Status): Sample[] {
  const found = new Map<string, Sample>();
  for (const { state, what, count } of status.findings) {
    const key = `${state} ${what}`;
    const before = found.get(key)?.value;
    found.set(key, findings.of(count + (typeof before === 'number' ? before : 0), state, what));
  }
  return [
    ...status.datasets.flatMap(({ dataset, last_success_at, late_by, ...one }) => [
      ...(last_success_at ? [lastSuccess.of(last_success_at.getTime() / 1000, dataset)] : []),
      ...(late_by === null ? [] : [late.of(late_by, dataset)]),
      targets.of(one.targets, dataset),
      failing.of(one.failing, dataset),
      incomplete.of(one.incomplete, dataset),
      rowsToday.of(one.rows_today, dataset),
    ]),
    lateTargets.of(status.late_targets),
    standingStill.of(status.standing_still),
    ...found.values(),
    ...status.discrepancies.map(({ check_name, standing }) => discrepancies.of(standing, check_name)),
    quarantined.of(status.quarantined),
    ...(status.seal ? [sealedUntil.of(status.seal.sealed_until.getTime() / 1000)] : []),
    gaps.of(status.gaps),
    ...status.budgets.flatMap(({ upstream, day_units, blocked_until }) => [
      unitsToday.of(day_units, upstream),
      blocked.of(blocked_until === null ? 0 : 1, upstream),
    ]),
  ];
}

/** What `status` and `/api/status` tell. */
export const recording: MetricPart = {
  name: 'recording',
  about: 'How the recording stands: what `status` and `/api/status` tell.',
  families: [
    lastSuccess,
    late,
    targets,
    failing,
    incomplete,
    rowsToday,
    lateTargets,
    standingStill,
    findings,
    discrepancies,
    quarantined,
    sealedUntil,
    gaps,
    unitsToday,
    blocked,
  ],
  reader:
    ({ status }) =>
    async () =>
      recordingSamples(await status()),
};
