import type { Dataset, Recorded } from '../../datasets/contract.ts';
import { requestColumns, seriesTableOf } from '../../datasets/target-columns.ts';
import { membersColumns, observationsViewName } from '../../recording/readings/reading-views.ts';
import { packingOf } from '../../recording/readings/value-encoding.ts';
import { recorded } from '../recorded-datasets.ts';
import type { OrderColumn } from '../relations/relation.ts';
import { LAST, REPLACED } from './table-views.ts';

/**
 * The natural keys of views and functions that belong to no dataset. A column with `?` is nullable. Relations
 * without a key are ordered by all of their columns, from left to right; duplicate rows of such relations
 * count as one row.
 */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  alert_messages: ['id'],
  alerts: ['id'],
  budgets: ['upstream', 'endpoint'],
  change_commits: ['commit_number'],
  change_rows: ['commit_number', 'position'],
  change_sinks: ['recorder', 'sink'],
  check_runs: ['scope'],
  coverage: ['dataset', 'target', 'range_start?', 'first_height?'],
  coverage_states: ['dataset', 'target'],
  discrepancies: ['id'],
  exports: ['recorder', 'destination'],
  freshness: ['dataset', 'target'],
  gaps: ['dataset', 'target', 'range_start?', 'first_height?', 'reason'],
  incident_notes: ['id'],
  metric_rules: ['metric'],
  metric_settling: ['metric', 'time_interval'],
  metric_settling_of: ['metric', 'time_interval'],
  my_validators: ['node_id'],
  disagreements: ['dataset', 'entity', 'node?', 'column_name?', 'node_value?'],
  node_health_ledger: ['observer', 'node', 'probe', 'check_name', 'started_at'],
  node_absences: ['observer', 'started_at'],
  node_health_now: ['node'],
  node_incidents: ['node', 'probe', 'started_at'],
  node_incidents_as_of: ['node', 'probe', 'started_at'],
  node_latency: ['observer', 'node', 'probe'],
  node_latency_over_time: ['begins', 'observer', 'node', 'probe'],
  node_latency_spans: ['observer', 'node', 'probe', 'starts_at', 'span'],
  node_maintenance: ['id'],
  node_observers: ['observer'],
  node_probes: ['observer', 'node', 'probe'],
  node_quorum: ['node', 'probe'],
  node_quorum_states: ['node', 'probe', 'started_at'],
  node_states: ['observer', 'node', 'probe', 'started_at'],
  node_uptime: ['observer', 'node', 'probe'],
  node_uptime_by: ['observer', 'node', 'probe', 'begins'],
  node_uptime_by_day: ['observer', 'node', 'probe', 'day'],
  node_uptime_by_month: ['observer', 'node', 'probe', 'month'],
  processes: ['process'],
  columns: ['relation', 'column_name'],
  quarantine: ['id'],
  nodes: ['node'],
  chains: ['chain_id'],
  calendar: ['day'],
  queues: ['queue', 'recorder'],
  recorded_since: ['dataset', 'target'],
  freshness_by_dataset: ['dataset'],
  replicas: ['replica', 'recorder'],
  relations: ['relation'],
  retention: ['dataset'],
  rewards_pending: ['end_timestamp', 'tx_hash', 'reward_type'],
  run_days: ['day', 'dataset', 'target', 'reason'],
  run_months: ['month', 'dataset', 'target', 'reason'],
  runs: ['run_id', 'dataset'],
  schedules: ['schedule'],
  seal_heads: ['seal'],
  seals: ['seal', 'dataset'],
  series_breaks: ['chain_id', 'metric', 'broke_at'],
  stake_expiring: ['end_time', 'kind', 'node_id', 'tx_id'],
  validator_uptime_seen: ['node_id', 'seen_by'],
  watched_node_ids: ['node_id'],
};

type RecordedDataset = (typeof recorded)[number];

/** Yields the name and the key of each view of a dataset. */
function* keysOf(one: RecordedDataset): Generator<[string, readonly OrderColumn[]]> {
  const { name: dataset, relation: name } = one;
  const key = naturalKeyColumns(one);
  const never = (column: string) => ({ name: column, nullable: false });
  if (one.history === 'ledger') {
    for (const view of [name, `${name}_as_of`, `${name}_history_at`]) yield [view, key];
    yield [`${name}_history`, [...key, never('started_at')]];
    return;
  }
  const row = rowKeyOf(one);
  yield [name, row];
  yield [`${name}_as_of`, one.history === 'sample' ? [...key, never('observed_at')] : key];
  yield [
    observationsViewName(dataset),
    [never('observed_at'), ...requestColumns(one).map(never), never('run_id')],
  ];
  yield [`${name}_${LAST}`, key];
  yield [`${name}_${REPLACED}`, [...key, never('valid_from')]];
  yield [`${name}_history`, [...key, never('valid_from')]];
  if (one.history === 'sample')
    yield [
      `${name}_daily`,
      [...membersColumns(packingOf(one)).map((column) => never(column.name)), never('day')],
    ];
  yield [`${name}_changes`, [never('at'), never('change'), ...key]];
  yield [seriesTableOf(one), requestColumns(one).map(never)];
  if (name !== dataset)
    for (const merged of [dataset, `${dataset}_as_of`, `${dataset}_disagreements`])
      yield [merged, key.filter((column) => column.name !== 'node')];
  for (const list of listColumns(one))
    yield [`${name}_${list}`, [...key, never('valid_from'), never('position')]];
}

/**
 * Returns the key of a row. For readings, the time of the observation comes first: packed readings have no
 * other order.
 */
const rowKeyOf = (one: RecordedDataset): readonly OrderColumn[] =>
  one.history === 'sample'
    ? [{ name: 'observed_at', nullable: false }, ...naturalKeyColumns(one)]
    : naturalKeyColumns(one);

/** Returns the names of the columns that contain lists. */
export const listColumns = ({ columns }: Dataset) =>
  columns.filter(({ element }) => element).map((column) => column.name);

/** Returns the natural key of a dataset. */
export function naturalKeyColumns({ key, columns }: Recorded): OrderColumn[] {
  const nullable = new Set(columns.filter((column) => column.nullable).map(({ name }) => name));
  return key.map((name) =>
    nullable.has(name) ? { name, nullable: false, emptyForNull: true } : { name, nullable: false },
  );
}

const keysByRelation = new Map(
  recorded.flatMap((dataset) =>
    [...keysOf(dataset)].map(([relation, key]) => [relation, { dataset, key }] as const),
  ),
);

/**
 * Returns the columns that identify a row of a relation. Returns null if the relation has no declared key.
 */
export function naturalKeyOf(relation: string): readonly OrderColumn[] | null {
  const written = KEYS[relation]?.map((one) => ({ name: one.replace('?', ''), nullable: one.endsWith('?') }));
  const natural = keysByRelation.get(relation)?.key ?? written ?? [];
  return natural.length > 0 ? natural : null;
}

/** Returns the dataset of a relation. Returns null if the relation belongs to no dataset. */
export const datasetOfRelation = (relation: string): RecordedDataset | null =>
  keysByRelation.get(relation)?.dataset ?? null;
