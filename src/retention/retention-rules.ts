import type { Dataset } from '../datasets/contract.ts';
import { sameKeySql } from '../recording/histories/batch.ts';
import { MEMBERS_PER_ROW, packingOf, regclassSql } from '../recording/readings/value-encoding.ts';
import { isNeededByIdSql } from '../recording/run-days.ts';
import { recorded } from '../reporting/recorded-datasets.ts';

const DAY = 86_400_000;
/** Minimum retention, in ms. Days within this time may not be sealed, closed and packed yet. */
const MIN_RETENTION_MS = 7 * DAY;
/**
 * Minimum retention of series, in ms. A monthly point is revised until after the end of the month; points
 * that start before the kept range are no longer requested.
 */
const MIN_SERIES_RETENTION_MS = 90 * DAY;

/** The rows of a table that are removed. */
export interface RemovalRule {
  /** Name of the table in the schema `recorder`. */
  readonly table: string;
  /** SQL condition on the rows `r` that are removed; $1 is the start of the kept range. */
  readonly where: string;
  /** SQL of CTEs that `where` reads. */
  readonly ctes?: string;
}

/**
 * Rows that the retention of a dataset removes: first those of `removals`, in their order, then its readings.
 */
export interface RetentionTarget {
  readonly name: string;
  /** Rules for rows that are removed individually. */
  readonly removals: readonly RemovalRule[];
  /** Set for readings, whose closed days are removed as a whole. */
  readonly readings: Dataset | null;
  /** The names under which the rows are sealed. */
  readonly sealed: readonly string[];
}

/**
 * Returns the rule that removes versions that ended before the kept range. The version that is valid at the
 * start of the range is kept. A version that ended because its target was no longer watched is kept while it
 * is the last version of its member. If the member is recorded again, the next version continues this one, so
 * that the member is not reported as new.
 */
const ofState = (dataset: Dataset): RemovalRule => ({
  table: dataset.name,
  where: `r.valid_to < $1 and (r.ended_by <> 'unwatched' or exists (
    select from recorder.${dataset.name} o where ${sameKeySql(dataset, 'o', 'r')} and o.valid_from >= r.valid_to and o.valid_from < $1))`,
});

/**
 * SQL condition for versions that start before the kept range and are current or ended before that range. An
 * ended version is not visible at any moment of the kept range. The data of a current version is older than
 * the kept range.
 */
const RECORDED_BEFORE = 'r.valid_from < $1 and (r.valid_to is null or r.valid_to < $1)';

const ofSeries = (dataset: Dataset): RemovalRule => ({
  table: dataset.name,
  where: `${RECORDED_BEFORE} and (r.bucket_start < $1 or (r.valid_to is not null and not r.vanished))`,
});

/**
 * The rules for the ledger. Rows that an incident of the kept range may depend on are kept. Rows of a probe
 * are removed only up to a floor: the earliest of the last recoveries before the range, over all observers of
 * the probe that continue in the range. If such an observer has no recovery before the range, all rows of the
 * probe are kept. An observer that stopped while the node was down continues, because the incident is open. A
 * period without a report is also kept if a kept interval of a check overlaps the period. An absence is also
 * kept if a kept row overlaps the absence. Otherwise, the state of the check or of the probe would count as
 * known in that period.
 */
const LEDGER: readonly RemovalRule[] = [
  {
    table: 'node_health',
    ctes: `floors as materialized (
      select node, probe, min(floor) as floor from (
        select p.observer, p.node, p.probe, case when p.continues then max(u.started_at) else $1::timestamptz end as floor
        from (
          select h.observer, h.node, h.probe,
            bool_or(h.ended_at >= $1 or h.ended_at is null and (h.state = 'down' or o.heartbeat_at >= $1)) as continues
          from recorder.node_health h left join recorder.health_observers o using (observer)
          where h.check_name = '*' group by h.observer, h.node, h.probe) p
        left join reporting_internal.node_recoveries_until($1::timestamptz) u using (observer, node, probe)
        group by p.observer, p.node, p.probe, p.continues) each_observer
      group by node, probe having count(*) = count(floor))`,
    where: `r.ended_at < $1 and exists (
      select from floors f where f.node = r.node and f.probe = r.probe and r.ended_at <= f.floor
        and (r.check_name <> '*' or (r.reported and r.state <> 'maintenance') or not exists (
          select from recorder.node_health h
          where h.observer = r.observer and h.node = r.node and h.probe = r.probe and h.check_name <> '*'
            and h.started_at < r.ended_at and (h.ended_at is null or h.ended_at > f.floor))))`,
  },
  {
    table: 'health_absences',
    where: `r.ended_at < $1 and not exists (
      select from recorder.node_health h where h.observer = r.observer and h.started_at < r.ended_at
        and (h.ended_at is null or h.ended_at > r.started_at))`,
  },
  {
    table: 'health_latency',
    where: `r.starts_at + case r.span when 'week' then interval '7 days' else interval '1 month' end <= $1`,
  },
];

const RUNS: readonly RemovalRule[] = [
  { table: 'runs', where: `r.finished_at < $1 and r.status <> 'running' and not ${isNeededByIdSql}` },
  {
    table: 'run_days',
    where: `r.starts_on + case r.span when 'day' then interval '1 day' else interval '1 month' end <= $1::timestamptz at time zone 'UTC'`,
  },
];

/**
 * Returns true if polls or sweeps return entries of any age: the complete list, or the list of all blocks,
 * which has no start in time. Rows of such a dataset are never removed, because they would be recorded again
 * as new.
 */
const returnsOldEntries = ({ history, source: { range, once, demand } }: Dataset): boolean =>
  (history === 'series' || history === 'log') &&
  !once &&
  !demand &&
  (!range || (range.axis === 'height' && range.index !== undefined));

function retainedOf(dataset: (typeof recorded)[number]): RetentionTarget[] {
  const of = (going: readonly RemovalRule[], more: Partial<RetentionTarget> = {}): RetentionTarget[] => [
    { name: dataset.name, removals: going, readings: null, sealed: [dataset.name], ...more },
  ];
  switch (dataset.history) {
    case 'ledger':
      return of(LEDGER, { sealed: [dataset.name, 'health_absences'] });
    case 'sample':
      return of([{ table: dataset.name, where: 'r.observed_at < $1' }], { readings: dataset });
    case 'state':
      return of([ofState(dataset)]);
    case 'log':
      return returnsOldEntries(dataset) ? [] : of([{ table: dataset.name, where: RECORDED_BEFORE }]);
    case 'series':
      return returnsOldEntries(dataset) ? [] : of([ofSeries(dataset)]);
  }
}

/** All datasets and tables that can have a retention. */
export const retainable: readonly RetentionTarget[] = [
  ...recorded.flatMap(retainedOf),
  { name: 'runs', removals: RUNS, readings: null, sealed: [] },
  {
    name: 'quarantine',
    removals: [{ table: 'quarantine', where: 'r.last_seen < $1' }],
    readings: null,
    sealed: [],
  },
];

/** The minimum retention by name, in ms. */
export const shortestRetention: ReadonlyMap<string, number> = new Map(
  retainable.map(({ name }) => [
    name,
    recorded.some((one) => one.name === name && one.history === 'series')
      ? MIN_SERIES_RETENTION_MS
      : MIN_RETENTION_MS,
  ]),
);

/** Returns SQL of the number of readings in a row `d` of a closed day. */
export function readingsIn(dataset: Dataset): string {
  const { values } = packingOf(dataset);
  return `coalesce(bit_count(d.present), d.observation_count * (
    select count(*) from generate_series(0, ${MEMBERS_PER_ROW - 1}) seat where d.base[seat * ${values.length} + 1] is not null))`;
}

/** Returns SQL of the scopes of a dataset's readings. */
export const scopesOf = (dataset: Dataset): string =>
  `(select scope_id from recorder.reading_scopes where dataset = ${regclassSql(packingOf(dataset))})`;
