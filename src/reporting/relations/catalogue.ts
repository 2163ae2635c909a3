import type { Dataset, History, Recorded } from '../../datasets/contract.ts';
import { requestColumns, SERIES_ID, seriesTableOf } from '../../datasets/target-columns.ts';
import type { Declared } from '../../db/declared.ts';
import {
  membersColumns,
  membersViewName,
  observationsViewName,
} from '../../recording/readings/reading-views.ts';
import { packingOf } from '../../recording/readings/value-encoding.ts';
import { recorded } from '../recorded-datasets.ts';
import { declaredObjects } from '../views/declared-objects.ts';
import {
  type Arrival,
  type EntityList,
  type ListOwner,
  type OrderColumn,
  orderedColumns,
  orderOf,
  type PastPart,
  type ReportingRelation,
  type SeriesNumbering,
} from './readable.ts';

/** The relations and the metadata of one dataset. */
export interface ReadableDataset {
  readonly name: string;
  readonly about: string;
  readonly kind: History | 'ledger';
  /** The columns of the natural key. */
  readonly key: readonly string[];
  /** The leading columns: the parameters of the request to the upstream. */
  readonly request: readonly string[];
  /** Default poll interval, in ms. */
  readonly every: number;
  /** The current rows. */
  readonly now: ReportingRelation;
  /**
   * Every version of every row. Null if each row has one version only; {@link now} then contains all of them.
   */
  readonly history: ReportingRelation | null;
  /** The columns with the start and the end of a row or version. `ends` is null for readings. */
  readonly begins: string;
  readonly ends: string | null;
}

/** All relations of the schemas `reporting` and `reporting_internal`. */
export interface Catalogue {
  readonly datasets: ReadonlyMap<string, ReadableDataset>;
  /** All views of `reporting`, and all its functions that return rows, by name; includes those of datasets. */
  readonly views: ReadonlyMap<string, ReportingRelation>;
  /** The same of the schema `reporting_internal`. */
  readonly internal: ReadonlyMap<string, ReportingRelation>;
}

/**
 * The natural keys of views and functions that belong to no dataset. A column with `?` is nullable. Other
 * relations are ordered by all of their columns, from left to right; duplicate rows of such relations count
 * as one row.
 */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  alert_messages: ['id'],
  alerts: ['id'],
  budgets: ['upstream', 'endpoint'],
  change_commits: ['commit_number'],
  change_rows: ['commit_number', 'place'],
  change_sinks: ['recorder', 'sink'],
  check_runs: ['scope'],
  coverage_states: ['dataset', 'target'],
  discrepancies: ['id'],
  exports: ['recorder', 'place'],
  freshness: ['dataset', 'target'],
  incident_notes: ['id'],
  metric_rules: ['metric'],
  metric_settling: ['metric', 'time_interval'],
  metric_settling_of: ['metric', 'time_interval'],
  my_validators: ['node_id'],
  disagreements: ['dataset', 'thing', 'node', 'column_name?'],
  node_health_ledger: ['observer', 'node', 'probe', 'check_name', 'started_at'],
  node_absences: ['observer', 'started_at'],
  node_health_now: ['node'],
  node_incidents: ['node', 'probe', 'started_at'],
  node_incidents_as_of: ['node', 'probe', 'started_at'],
  node_latency_spans: ['observer', 'node', 'probe', 'starts_at', 'span'],
  node_maintenance: ['id'],
  node_observers: ['observer'],
  node_probes: ['observer', 'node', 'probe'],
  node_quorum_states: ['node', 'probe', 'started_at'],
  node_states: ['observer', 'node', 'probe', 'started_at'],
  node_uptime_by_day: ['observer', 'node', 'probe', 'day'],
  node_uptime_by_month: ['observer', 'node', 'probe', 'month'],
  processes: ['process'],
  quarantine: ['id'],
  queues: ['queue', 'recorder'],
  recorded_since: ['dataset', 'target'],
  freshness_by_dataset: ['dataset'],
  replicas: ['place', 'recorder'],
  retention: ['dataset'],
  run_days: ['day', 'dataset', 'target', 'reason'],
  run_months: ['month', 'dataset', 'target', 'reason'],
  runs: ['run_id', 'dataset'],
  schedules: ['schedule'],
  seal_heads: ['seal'],
  seals: ['seal', 'dataset'],
  series_breaks: ['chain_id', 'metric', 'broke_at'],
  watched_node_ids: ['node_id'],
};

/** Views that are derived from the ledger of a probe. */
const PROBE_VIEWS: ReadonlySet<string> = new Set([
  'node_health_history',
  'node_states',
  'node_uptime_by_day',
  'node_uptime_by_month',
]);
const probes: EntityList = { view: 'node_probes', columns: ['observer', 'node', 'probe'] };
/** Few targets, each with many ranges. */
const coverageTargets: EntityList = { view: 'coverage_targets', columns: ['dataset', 'target'], alone: true };
/** The rows of a commit are read from the recorded data. */
const commits: EntityList = { view: 'change_commits', columns: ['commit_number'] };
/** The suffix of the view with all versions, and its time columns, per kind of history. */
const VERSIONS = {
  series: { view: 'history', begins: 'recorded_at', ends: 'superseded_at' },
  state: { view: 'history', begins: 'valid_from', ends: 'valid_to' },
  log: { view: null, begins: 'recorded_at', ends: null },
  sample: { view: null, begins: 'observed_at', ends: null },
  ledger: { view: 'history', begins: 'started_at', ends: 'ended_at' },
} as const;

let catalogue: Catalogue | undefined;

/** Returns the catalogue, built once from the declared objects: names, columns, types and comments. */
export function getCatalogue(): Catalogue {
  catalogue ??= buildCatalogue(declaredObjects());
  return catalogue;
}

function buildCatalogue(declared: readonly Declared[]): Catalogue {
  const byName = new Map(declared.map((object) => [object.name, object]));
  const keys = new Map(recorded.flatMap((one) => [...keysOf(one)]));
  const arrivals = new Map(recorded.flatMap((one) => [...arrivalsOf(one)]));
  const returnRows = declared.filter((one) => one.kind === 'view' || one.value === undefined);
  const ofKind = (kind: string) => recorded.flatMap(({ name, history }) => (history === kind ? [name] : []));
  const logs = new Set(ofKind('log'));
  const series = new Set(ofKind('series'));
  const revisions = new Map(ofKind('series').map((name) => [historyOf(name), partsOfSeries(name)]));
  const perNodeViews = new Map(recorded.flatMap((one) => [...listPerNodeViews(one)]));
  const worked = new Map([
    ...[...PROBE_VIEWS].map((name): [string, EntityList] => [name, probes]),
    ['change_rows', commits],
    ['coverage_ranges', coverageTargets],
    ...recorded.flatMap((one) => [...listEntities(one)]),
  ]);
  const numbering = new Map(recorded.flatMap((one) => [...numberedOf(one)]));
  const holding = new Map(recorded.flatMap((one) => [...listOwnersOf(one)]));
  const all = new Map(
    returnRows.map((one): [string, ReportingRelation] => {
      const { name } = one;
      const arrival = arrivals.get(name);
      const perNodeView = perNodeViews.get(name);
      const holders = holding.get(name);
      const parts = revisions.get(name);
      const numbered = numbering.get(name);
      const known = {
        ...readable(one, byName, keys.get(name), worked.get(name)),
        ...(arrival ? { arrival } : {}),
        ...(perNodeView ? { perNodeView } : {}),
        ...(holders ? { listOwner: holders } : {}),
        ...(numbered ? { numbered } : {}),
        ...(logs.has(name) ? { pastParts: pastOfLog(name) } : {}),
        ...(series.has(name) ? { pastParts: pastOfSeries(name) } : {}),
        ...(parts ? { parts } : {}),
      };
      return [name, known];
    }),
  );
  const datasets = recorded.map((one): [string, ReadableDataset] => {
    const kind = one.history;
    const { view, begins, ends } = VERSIONS[kind];
    const now = all.get(one.name);
    const history = view === null ? null : all.get(`${one.name}_${view}`);
    if (!now || history === undefined) throw new Error(`${one.name} has no view of its own in reporting`);
    const { name, about, key, source } = one;
    const request = one.columns.filter(({ path }) => path.length === 0).map((column) => column.name);
    return [name, { name, about, kind, key, request, every: source.every, now, history, begins, ends }];
  });
  const isInternal = ([name]: readonly [string, ReportingRelation]) => byName.get(name)?.internal === true;
  return {
    datasets: new Map(datasets),
    views: new Map([...all].filter((one) => !isInternal(one))),
    internal: new Map([...all].filter(isInternal)),
  };
}

function readable(
  object: Declared,
  byName: ReadonlyMap<string, Declared>,
  ofDataset: readonly OrderColumn[] | undefined,
  things: EntityList | undefined,
): ReportingRelation {
  const { name, comment, columns } = object;
  const parameters = object.kind === 'function' ? object.parameters : null;
  const past = byName.get(`${name}_as_of`);
  const asOf = past?.kind === 'function' && parameters === null ? past.name : null;
  const written = KEYS[name]?.map((one) => ({ name: one.replace('?', ''), nullable: one.endsWith('?') }));
  const natural = ofDataset ?? written ?? [];
  const key = natural.length > 0 ? natural : orderOf(orderedColumns(object));
  return {
    name,
    about: comment,
    columns,
    key,
    parameters,
    asOf,
    noPast: noPast(object, asOf),
    ...(things ? { entities: things } : {}),
  };
}

/**
 * Returns the parts of the past rows of a log, as in `reporting.D_as_of`: the rows of the view, and those
 * that were superseded later by a row with other values.
 */
const pastOfLog = (name: string): PastPart[] => [
  { view: name, where: (at) => `r.recorded_at <= ${at}` },
  {
    view: `${name}_conflicts`,
    where: (at) => `r.recorded_at <= ${at} and r.superseded_at > ${at} and r.differs is not null`,
  },
];

const historyOf = (name: string) => `${name}_${VERSIONS.series.view}`;

/** The parts that `reporting.D_history` of a series combines. */
const partsOfSeries = (name: string) => [`${name}_last`, `${name}_replaced`] as const;

/** Returns the parts of the past rows of a series, as in `reporting.D_as_of`. */
function pastOfSeries(name: string): PastPart[] {
  const [last, replaced] = partsOfSeries(name);
  const columns = { vanished_at: 'null::timestamptz' };
  return [
    {
      view: last,
      columns,
      // As in `_as_of`: `is true` keeps PostgreSQL from using another index than that of the key, which is
      // faster.
      where: (at) =>
        `(r.recorded_at <= ${at}) is true and (r.superseded_at is null or r.superseded_at > ${at})`,
    },
    { view: replaced, columns, where: (at) => `r.recorded_at <= ${at} and r.superseded_at > ${at}` },
  ];
}

function noPast({ name, columns }: Declared, asOf: string | null): string {
  if (asOf !== null) return '';
  const begins = ['recorded_at', 'valid_from', 'started_at', 'found_at'].find((one) =>
    columns.some((column) => column.name === one),
  );
  const instead = begins === undefined ? '' : `: it keeps every row, so filter by ${begins}.lte`;
  return `what reporting.${name} said at a past moment is not kept${instead}`;
}

/** Yields the views whose rows refer to a series by its number. */
function* numberedOf(one: (typeof recorded)[number]): Generator<[string, SeriesNumbering]> {
  if (one.history !== 'series' || !one.numbered) return;
  const numbered = { view: seriesTableOf(one), number: SERIES_ID, columns: requestColumns(one) };
  for (const view of [one.name, historyOf(one.name), ...partsOfSeries(one.name)]) yield [view, numbered];
}

/** Yields the keys of the views of a dataset, by view. */
function* keysOf(one: (typeof recorded)[number]): Generator<[string, readonly OrderColumn[]]> {
  const { name } = one;
  const key = keyOf(one);
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
    observationsViewName(name),
    [never('observed_at'), ...requestColumns(one).map(never), never('run_id')],
  ];
  yield [`${name}_last`, key];
  yield [`${name}_replaced`, [...key, never('recorded_at')]];
  yield [`${name}_history`, [...key, never(one.history === 'state' ? 'valid_from' : 'recorded_at')]];
  yield [`${name}_conflicts`, [...key, never('recorded_at')]];
  yield [`${name}_changes`, [never('at'), never('change'), ...key]];
  yield [seriesTableOf(one), requestColumns(one).map(never)];
  for (const network of [`network_${name}`, `${name}_disagreements`])
    yield [network, key.filter((column) => column.name !== 'node')];
  for (const list of lists(one))
    for (const view of [`${name}_${list}`, `${name}_${list}_as_of`])
      yield [view, [...row, never('position')]];
}

/**
 * Yields the entities of readings. Readings of many entities at once are computed per observation, and their
 * averages per entity. Both lists are read without unpacking the readings.
 */
function* listEntities(one: (typeof recorded)[number]): Generator<[string, EntityList]> {
  if (one.history !== 'sample') return;
  const { name, key } = one;
  const request = requestColumns(one);
  const members = membersColumns(packingOf(one)).map((column) => column.name);
  // Observations of one entity each are often made at the same time, so they are read one entity at a time.
  const apart = key.length > request.length ? request : [];
  yield [
    name,
    {
      view: observationsViewName(name),
      columns: ['observed_at', ...apart],
      also: request,
      alone: true,
      packed: true,
    },
  ];
  yield [`${name}_daily`, { view: membersViewName(name), columns: members, packed: true }];
}

/**
 * Yields the views whose rows are found by their time of arrival, because the table has an index for it.
 * Yields nothing for a ledger.
 */
function* arrivalsOf({ name, history }: (typeof recorded)[number]): Generator<[string, Arrival]> {
  if (history === 'ledger') return;
  const { view, begins } = VERSIONS[history];
  if (history === 'sample') {
    const looks = observationsViewName(name);
    const arrival: Arrival = { column: begins, dataset: name, view: looks, begins, shared: true };
    yield [name, arrival];
    yield [looks, arrival];
    return;
  }
  const versions = view === null ? name : `${name}_${view}`;
  const arrival: Arrival = { column: begins, dataset: name, view: versions, begins };
  yield [name, arrival];
  yield [versions, arrival];
  if (history === 'series') for (const part of partsOfSeries(name)) yield [part, arrival];
  yield [`${name}_changes`, { ...arrival, column: 'at' }];
}

/**
 * Yields the view that combines all nodes, and the view with the rows per node. Readings have no index by
 * node and key.
 */
function* listPerNodeViews({ name, history, key }: (typeof recorded)[number]): Generator<[string, string]> {
  if ((history === 'log' || history === 'state') && key[0] === 'node' && key.length > 1)
    yield [`network_${name}`, name];
}

/**
 * Returns the key of a row. For readings, the time of the observation comes first: packed readings have no
 * other order.
 */
const rowKeyOf = (one: (typeof recorded)[number]): readonly OrderColumn[] =>
  one.history === 'sample' ? [{ name: 'observed_at', nullable: false }, ...keyOf(one)] : keyOf(one);

/** Yields the views of list elements, and the rows that own the lists. */
function* listOwnersOf(one: (typeof recorded)[number]): Generator<[string, ListOwner]> {
  if (one.history === 'ledger') return;
  const { name: view, history } = one;
  const past = history === 'log' ? { pastParts: pastOfLog(view) } : {};
  for (const list of lists(one)) yield [`${view}_${list}`, { view, key: rowKeyOf(one), list, ...past }];
}

const lists = ({ columns }: Dataset) => columns.filter(({ element }) => element).map((column) => column.name);

function keyOf({ key, columns }: Recorded): OrderColumn[] {
  const nullable = new Set(columns.filter((column) => column.nullable).map(({ name }) => name));
  return key.map((name) =>
    nullable.has(name) ? { name, nullable: false, emptyForNull: true } : { name, nullable: false },
  );
}
