import type { History } from '../../datasets/contract.ts';
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
import { datasetOfRelation, listColumns, naturalKeyColumns, naturalKeyOf } from '../views/relation-keys.ts';
import { LAST, REPLACED } from '../views/table-views.ts';
import {
  type Arrival,
  type EntityList,
  type ListOwner,
  orderedColumns,
  orderOf,
  type PastPart,
  type Relation,
  type SeriesNumbering,
} from './relation.ts';

/** The relations and the metadata of one dataset. */
export interface DatasetRelations {
  /** The name in commands and in the configuration. The name in `reporting` is that of {@link now}. */
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
  readonly now: Relation;
  /**
   * Every version of every row. Null if each row has only one version, because {@link now} then contains all
   * versions.
   */
  readonly history: Relation | null;
  /** The column with the start of a row or version. */
  readonly begins: string;
  /** The column with the end of a row or version; null for readings. */
  readonly ends: string | null;
}

/** All relations of the schemas `reporting` and `reporting_internal`. */
export interface Catalogue {
  /** Datasets by the name of the relation with the current rows. */
  readonly datasets: ReadonlyMap<string, DatasetRelations>;
  /**
   * All views of `reporting`, and all its functions that return rows, by name; includes those of datasets.
   */
  readonly views: ReadonlyMap<string, Relation>;
  /** All views and row-returning functions of the schema `reporting_internal`, by name. */
  readonly internal: ReadonlyMap<string, Relation>;
}

/** Views that are derived from the ledger of a probe. */
const PROBE_VIEWS: ReadonlySet<string> = new Set([
  'node_health_history',
  'node_states',
  'node_uptime_by_day',
  'node_uptime_by_month',
]);
const probes: EntityList = { view: 'node_probes', columns: ['observer', 'node', 'probe'] };
/** The list of targets with coverage. There are few targets, each with many ranges. */
const coverageTargets: EntityList = { view: 'coverage_targets', columns: ['dataset', 'target'], alone: true };
/** The list of commits of the change feed. The rows of a commit are read from the recorded data. */
const commits: EntityList = { view: 'change_commits', columns: ['commit_number'] };
/** The suffix of the view with all versions, and the time columns of that view, per kind of history. */
const VERSIONS = {
  series: { view: 'history', begins: 'valid_from', ends: 'valid_to' },
  state: { view: 'history', begins: 'valid_from', ends: 'valid_to' },
  log: { view: 'history', begins: 'valid_from', ends: 'valid_to' },
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
  const arrivals = new Map(recorded.flatMap((one) => [...arrivalsOf(one)]));
  const returnRows = declared.filter((one) => one.kind === 'view' || one.value === undefined);
  const ofKind = (kind: string) =>
    recorded.flatMap(({ relation, history }) => (history === kind ? [relation] : []));
  const logs = new Set(ofKind('log'));
  const series = new Set(ofKind('series'));
  const revisions = new Map([...series, ...logs].map((name) => [historyOf(name), partsOfHistory(name)]));
  const perNodeViews = new Map(recorded.flatMap((one) => [...listPerNodeViews(one)]));
  const entityLists = new Map([
    ...[...PROBE_VIEWS].map((name): [string, EntityList] => [name, probes]),
    ['change_rows', commits],
    ['coverage_ranges', coverageTargets],
    ...recorded.flatMap((one) => [...listEntities(one)]),
  ]);
  const numbering = new Map(recorded.flatMap((one) => [...numberedOf(one)]));
  const listOwners = new Map(recorded.flatMap((one) => [...listOwnersOf(one)]));
  const all = new Map(
    returnRows.map((one): [string, Relation] => {
      const { name } = one;
      const arrival = arrivals.get(name);
      const perNodeView = perNodeViews.get(name);
      const listOwner = listOwners.get(name);
      const parts = revisions.get(name);
      const numbered = numbering.get(name);
      const dataset = datasetOfRelation(name)?.name;
      const known = {
        ...createRelation(one, byName, entityLists.get(name)),
        ...(dataset === undefined ? {} : { dataset }),
        ...(arrival ? { arrival } : {}),
        ...(perNodeView ? { perNodeView } : {}),
        ...(listOwner ? { listOwner: listOwner } : {}),
        ...(numbered ? { numbered } : {}),
        ...(logs.has(name) ? { pastParts: pastOfLog(name) } : {}),
        ...(series.has(name) ? { pastParts: pastOfSeries(name) } : {}),
        ...(parts ? { parts } : {}),
      };
      return [name, known];
    }),
  );
  const datasets = recorded.map((one): [string, DatasetRelations] => {
    const kind = one.history;
    const { view, begins, ends } = VERSIONS[kind];
    const now = all.get(one.relation);
    const history = view === null ? null : all.get(`${one.relation}_${view}`);
    if (!now || history === undefined)
      throw new Error(
        `the dataset ${one.name} has no view ${one.relation} or no history view in reporting: declare them in datasetViews`,
      );
    const { name, about, key, source } = one;
    const request = one.columns.filter(({ path }) => path.length === 0).map((column) => column.name);
    return [
      one.relation,
      { name, about, kind, key, request, every: source.every, now, history, begins, ends },
    ];
  });
  const isInternal = ([name]: readonly [string, Relation]) =>
    byName.get(name)?.schema === 'reporting_internal';
  return {
    datasets: new Map(datasets),
    views: new Map([...all].filter((one) => !isInternal(one))),
    internal: new Map([...all].filter(isInternal)),
  };
}

function createRelation(
  object: Declared,
  byName: ReadonlyMap<string, Declared>,
  entityList: EntityList | undefined,
): Relation {
  const { name, comment, columns } = object;
  const parameters = object.kind === 'function' ? object.parameters : null;
  const past = byName.get(`${name}_as_of`);
  const asOf = past?.kind === 'function' && parameters === null ? past.name : null;
  const key = naturalKeyOf(name) ?? orderOf(orderedColumns(object));
  return {
    name,
    about: comment,
    columns,
    key,
    parameters,
    asOf,
    noPast: noPast(object, asOf),
    ...(entityList ? { entities: entityList } : {}),
  };
}

/**
 * Returns the parts of the past rows of a log, as in `reporting.D_as_of`: the rows of the view `D`, and rows
 * that were superseded later by a row with other values.
 */
const pastOfLog = (relation: string): PastPart[] => [
  { view: relation, where: (at) => `r.valid_from <= ${at}` },
  {
    view: `${relation}_${REPLACED}`,
    where: (at) => `r.valid_from <= ${at} and r.valid_to > ${at}`,
  },
];

const historyOf = (relation: string) => `${relation}_${VERSIONS.series.view}`;

/** The parts that `reporting.D_history` of a series or a log combines. */
const partsOfHistory = (relation: string) => [`${relation}_${LAST}`, `${relation}_${REPLACED}`] as const;

/** Returns the parts of the past rows of a series, as in `reporting.D_as_of`. */
function pastOfSeries(name: string): PastPart[] {
  const [last, replaced] = partsOfHistory(name);
  return [
    {
      view: last,
      // As in `_as_of`: `is true` excludes all indexes except the index of the key, which is the fastest.
      where: (at) => `(r.valid_from <= ${at}) is true and (r.valid_to is null or r.valid_to > ${at})`,
    },
    { view: replaced, where: (at) => `r.valid_from <= ${at} and r.valid_to > ${at}` },
  ];
}

function noPast({ name, columns }: Declared, asOf: string | null): string {
  if (asOf !== null) return '';
  const begins = ['valid_from', 'started_at', 'found_at'].find((one) =>
    columns.some((column) => column.name === one),
  );
  const instead = begins === undefined ? '' : `: the view keeps every row, so filter by ${begins}.lte`;
  return `past states of reporting.${name} are not stored${instead}`;
}

/** Yields the views whose rows refer to a series by its number. */
function* numberedOf(one: (typeof recorded)[number]): Generator<[string, SeriesNumbering]> {
  if (one.history !== 'series' || !one.numbered) return;
  const numbered = { view: seriesTableOf(one), number: SERIES_ID, columns: requestColumns(one) };
  for (const view of [one.name, historyOf(one.name), ...partsOfHistory(one.name)]) yield [view, numbered];
}

/**
 * Yields the lists of entities of readings: observations for the view of the readings, and members for the
 * view of the daily averages. Both lists are read without unpacking the readings.
 */
function* listEntities(one: (typeof recorded)[number]): Generator<[string, EntityList]> {
  if (one.history !== 'sample') return;
  const { name, relation, key } = one;
  const request = requestColumns(one);
  const members = membersColumns(packingOf(one)).map((column) => column.name);
  // Observations with a single row are often made at the same time, so all rows of one time are read together.
  // Observations with many rows are read one by one.
  const apart = key.length > request.length ? request : [];
  yield [
    relation,
    {
      view: observationsViewName(name),
      columns: ['observed_at', ...apart],
      also: request,
      alone: true,
      packed: true,
    },
  ];
  yield [`${relation}_daily`, { view: membersViewName(name), columns: members, packed: true }];
}

/**
 * Yields the views whose rows are found by their time of arrival through an index of the table. Yields
 * nothing for a ledger.
 */
function* arrivalsOf({ name, relation, history }: (typeof recorded)[number]): Generator<[string, Arrival]> {
  if (history === 'ledger') return;
  const { begins } = VERSIONS[history];
  if (history === 'sample') {
    const observations = observationsViewName(name);
    const arrival: Arrival = { column: begins, dataset: name, view: observations, begins, shared: true };
    yield [relation, arrival];
    yield [observations, arrival];
    return;
  }
  const versions = historyOf(relation);
  const arrival: Arrival = { column: begins, dataset: name, view: versions, begins };
  yield [relation, arrival];
  yield [versions, arrival];
  if (history !== 'state') for (const part of partsOfHistory(relation)) yield [part, arrival];
  yield [`${relation}_changes`, { ...arrival, column: 'at' }];
}

/**
 * Yields the view that combines all nodes, and the view with the rows per node. Yields nothing for readings,
 * because they have no index by node and key.
 */
function* listPerNodeViews({
  name,
  relation,
  history,
  key,
}: (typeof recorded)[number]): Generator<[string, string]> {
  if ((history === 'log' || history === 'state') && relation !== name && key.length > 1)
    yield [name, relation];
}

/** Yields the views of list elements, and the rows that contain the lists. */
function* listOwnersOf(one: (typeof recorded)[number]): Generator<[string, ListOwner]> {
  if (one.history === 'ledger') return;
  const { relation, history } = one;
  const views = history === 'state' ? [historyOf(relation)] : partsOfHistory(relation);
  const key = [...naturalKeyColumns(one), { name: 'valid_from', nullable: false }];
  for (const list of listColumns(one)) yield [`${relation}_${list}`, { views, key, list }];
}
