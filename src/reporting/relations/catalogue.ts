import type { Dataset, History } from '../../datasets/contract.ts';
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
  orderedColumns,
  orderOf,
  type PastPart,
  type Relation,
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

/** Properties of relations from which plans of queries are chosen. */
type PlanHints = Partial<
  Pick<Relation, 'arrival' | 'entities' | 'listOwner' | 'numbered' | 'parts' | 'pastParts' | 'perNodeView'>
>;
type RelationHints = readonly [relation: string, hints: PlanHints];

const probes: EntityList = { view: 'node_probes', columns: ['observer', 'node', 'probe'] };
/** Hints for views that belong to several datasets or to the recording. */
const SHARED_HINTS: readonly RelationHints[] = [
  ['node_health_history', { entities: probes }],
  ['node_states', { entities: probes }],
  ['node_uptime_by_day', { entities: probes }],
  ['node_uptime_by_month', { entities: probes }],
  // The rows of a commit of the change feed are read from the recorded data.
  ['change_rows', { entities: { view: 'change_commits', columns: ['commit_number'] } }],
  // There are few targets, each with many ranges.
  [
    'coverage_ranges',
    { entities: { view: 'coverage_targets', columns: ['dataset', 'target'], alone: true } },
  ],
];

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
  const returnRows = declared.filter((one) => one.kind === 'view' || one.value === undefined);
  const hints = new Map<string, PlanHints>();
  for (const [name, more] of [...SHARED_HINTS, ...recorded.flatMap(hintsOf)])
    hints.set(name, { ...hints.get(name), ...more });
  const all = new Map(
    returnRows.map((one): [string, Relation] => {
      const { name } = one;
      const dataset = datasetOfRelation(name)?.name;
      const owner = dataset === undefined ? {} : { dataset };
      return [name, { ...createRelation(one, byName), ...owner, ...hints.get(name) }];
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
    const declaration = { name, about, kind, key, request: requestColumns(one), every: source.every };
    return [one.relation, { ...declaration, now, history, begins, ends }];
  });
  const isInternal = ([name]: readonly [string, Relation]) =>
    byName.get(name)?.schema === 'reporting_internal';
  return {
    datasets: new Map(datasets),
    views: new Map([...all].filter((one) => !isInternal(one))),
    internal: new Map([...all].filter(isInternal)),
  };
}

function createRelation(object: Declared, byName: ReadonlyMap<string, Declared>): Relation {
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

/** Returns the hints for the views of a dataset. */
function hintsOf(one: (typeof recorded)[number]): RelationHints[] {
  if (one.history === 'ledger') return [];
  if (one.history === 'sample') return hintsOfReadings(one);
  const { name, relation, key, history } = one;
  const versions = historyOf(relation);
  const parts = history === 'state' ? [] : partsOfHistory(relation);
  const { begins } = VERSIONS[history];
  const arrival = { column: begins, dataset: name, view: versions, begins };
  // Rows that refer to a series by its number.
  const numbered = { view: seriesTableOf(one), number: SERIES_ID, columns: requestColumns(one) };
  const ofRows = [relation, versions, ...parts];
  const ownerKey = [...naturalKeyColumns(one), { name: 'valid_from', nullable: false }];
  const owners = parts.length > 0 ? parts : [versions];
  return [
    ...ofRows.map((view): RelationHints => [view, { arrival, ...(one.numbered ? { numbered } : {}) }]),
    [`${relation}_changes`, { arrival: { ...arrival, column: 'at' } }],
    ...(parts.length > 0 ? [[versions, { parts }] as const] : []),
    ...(history === 'series' ? [[relation, { pastParts: pastOfSeries(relation) }] as const] : []),
    ...(history === 'log' ? [[relation, { pastParts: pastOfLog(relation) }] as const] : []),
    // The view that combines all nodes. A series has no index by node and key.
    ...(history !== 'series' && relation !== name && key.length > 1
      ? [[name, { perNodeView: relation }] as const]
      : []),
    ...listColumns(one).map(
      (list): RelationHints => [`${relation}_${list}`, { listOwner: { views: owners, key: ownerKey, list } }],
    ),
  ];
}

/**
 * Returns the hints for the views of readings. They are found by the lists of observations and members, which
 * are read without unpacking the readings.
 */
function hintsOfReadings(one: Dataset): RelationHints[] {
  const { name, relation, key } = one;
  const { begins } = VERSIONS.sample;
  const request = requestColumns(one);
  const observations = observationsViewName(name);
  const arrival: Arrival = { column: begins, dataset: name, view: observations, begins, shared: true };
  const members = membersColumns(packingOf(one)).map((column) => column.name);
  // Observations with a single row are often made at the same time, so all rows of one time are read together.
  // Observations with many rows are read one by one.
  const columns = [begins, ...(key.length > request.length ? request : [])];
  const entities: EntityList = { view: observations, columns, also: request, alone: true, packed: true };
  return [
    [relation, { arrival, entities }],
    [observations, { arrival }],
    [`${relation}_daily`, { entities: { view: membersViewName(name), columns: members, packed: true } }],
  ];
}
