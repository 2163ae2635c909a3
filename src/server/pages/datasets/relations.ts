import {
  type Catalogue,
  getCatalogue,
  type ReadableDataset,
} from '../../../reporting/relations/catalogue.ts';
import type { ReportingRelation } from '../../../reporting/relations/readable.ts';

/** Everything that can be read, created once. */
export const catalogue: Catalogue = getCatalogue();

/** A view or function of `reporting`, and its dataset. */
export interface Relation {
  readonly readable: ReportingRelation;
  /** Null if it belongs to the recording or to several datasets. */
  readonly dataset: ReadableDataset | null;
}

/** Returns the relation with a name, or null. */
export function relationNamed(name: string): Relation | null {
  const readable = catalogue.views.get(name);
  return readable ? { readable, dataset: datasetOf(name) } : null;
}

/**
 * Returns the view with a name.
 * @throws Error if it is not declared
 */
export function viewNamed(name: string): ReportingRelation {
  const view = catalogue.views.get(name) ?? catalogue.internal.get(name);
  if (!view) throw new Error(`reporting.${name} is not declared`);
  return view;
}

function datasetOf(name: string): ReadableDataset | null {
  const own = [...catalogue.datasets.values()].filter((one) => belongsTo(name, one.name));
  return own.toSorted((one, other) => other.name.length - one.name.length)[0] ?? null;
}

const belongsTo = (name: string, dataset: string) =>
  name === dataset || name.startsWith(`${dataset}_`) || name === `network_${dataset}`;

/** The other views of a dataset, by their meaning. */
export interface DatasetViews {
  /** Every version of every row. */
  readonly history: ReportingRelation | null;
  /** Additions, changes and removals, in the order of time. */
  readonly changes: ReportingRelation | null;
  /** Later observations that contradict recorded values. */
  readonly conflicts: ReportingRelation | null;
  /** The rest: flattened lists, data of all nodes together, and predefined queries. */
  readonly others: readonly ReportingRelation[];
}

export function viewsOf(dataset: ReadableDataset): DatasetViews {
  const { name, history } = dataset;
  const changes = catalogue.views.get(`${name}_changes`) ?? null;
  const conflicts = catalogue.views.get(`${name}_conflicts`) ?? null;
  const names = [name, `${name}_as_of`, history?.name, changes?.name, conflicts?.name];
  const others = [...catalogue.views.values()].filter(
    (one) => !names.includes(one.name) && datasetOf(one.name) === dataset,
  );
  return { history, changes, conflicts, others };
}

/** Returns the views and functions that belong to no dataset. */
export const sharedViews = (): ReportingRelation[] =>
  [...catalogue.views.values()].filter(({ name }) => datasetOf(name) === null && !name.endsWith('_as_of'));
