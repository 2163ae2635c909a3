import { z } from 'zod';
import {
  type Catalogue,
  type DatasetRelations,
  getCatalogue,
} from '../../../reporting/relations/catalogue.ts';
import { instantParam } from '../../../reporting/relations/filters.ts';
import { invalidParameter, validateParameters } from '../../../reporting/relations/invalid-request.ts';
import type { Relation } from '../../../reporting/relations/relation.ts';
import { type RowsQuery, rowsParameters } from '../../../reporting/relations/row-query.ts';
import { type Parameters, singleParameters } from './addresses.ts';

/** All relations that pages can read, created once. */
export const catalogue: Catalogue = getCatalogue();

/**
 * Returns the dataset of a relation, or null if the relation belongs to the recording or to several datasets.
 */
export const datasetOf = ({ dataset }: Relation): DatasetRelations | null =>
  dataset === undefined ? null : datasetNamed(dataset);

/** Returns the dataset with a name, as in commands and in columns named `dataset`; null if there is none. */
export const datasetNamed = (name: string): DatasetRelations | null =>
  [...catalogue.datasets.values()].find((one) => one.name === name) ?? null;

/**
 * Returns the view with a name.
 * @throws Error if no such view is declared
 */
export function viewNamed(name: string): Relation {
  const view = catalogue.views.get(name) ?? catalogue.internal.get(name);
  if (!view) throw new Error(`reporting.${name} is not declared`);
  return view;
}

/** The views of a dataset in addition to its current rows. */
export interface DatasetViews {
  /** One row per entity, merged over all nodes; null if the dataset is not reported per node. */
  readonly merged: Relation | null;
  /** Every version of every row. */
  readonly history: Relation | null;
  /** Additions, changes and removals, in the order of time. */
  readonly changes: Relation | null;
  /** All other views: flattened lists and predefined queries. */
  readonly others: readonly Relation[];
}

export function viewsOf(dataset: DatasetRelations): DatasetViews {
  const { history } = dataset;
  const { name } = dataset.now;
  const changes = catalogue.views.get(`${name}_changes`) ?? null;
  const merged = dataset.name === name ? null : (catalogue.views.get(dataset.name) ?? null);
  const names = [name, merged?.name, `${name}_as_of`, history?.name, changes?.name];
  const others = [...catalogue.views.values()].filter(
    (one) =>
      !names.includes(one.name) && one.name !== `${dataset.name}_as_of` && one.dataset === dataset.name,
  );
  return { merged, history, changes, others };
}

/** Returns the views and functions that belong to no dataset. */
export const sharedViews = (): Relation[] =>
  [...catalogue.views.values()].filter(
    ({ name, dataset }) => dataset === undefined && !name.endsWith('_as_of'),
  );

/** Support of a view for past times. */
export type PastSupport =
  /** Supports the rows as known at any moment. */
  | { readonly kind: 'known' }
  /** Supports the rows up to a moment, with their current values, because every row is kept. */
  | { readonly kind: 'since'; readonly column: string }
  /** Supports only the current rows. */
  | { readonly kind: 'none' };

/** Parsed parameters of a page of rows. */
export interface RequestedRows {
  readonly query: RowsQuery;
  readonly parameters: Parameters;
  /** The moment, in a format that PostgreSQL parses; null: now. */
  readonly asOf: string | null;
  readonly past: PastSupport;
}

/** Names of columns with the start time of a row, in order of preference. */
const SINCE = ['valid_from', 'observed_at', 'started_at', 'found_at', 'at'];

export function pastSupportOf({ asOf, parameters, columns }: Relation): PastSupport {
  if (asOf !== null || parameters?.some(({ name }) => name === 'as_of')) return { kind: 'known' };
  const column = SINCE.find((name) => columns.some((one) => one.name === name && one.type === 'timestamptz'));
  return column === undefined ? { kind: 'none' } : { kind: 'since', column };
}

/**
 * Parses the moment of `as_of`.
 * @returns null if there is no moment
 * @throws InvalidRequestError if the moment is invalid
 */
export function parseAsOf(params: Readonly<Record<string, unknown>>): string | null {
  const moment = z.object({ as_of: instantParam.optional() });
  return validateParameters(moment, { as_of: params.as_of }).as_of ?? null;
}

/** @throws InvalidRequestError if a parameter is repeated */
export function requireSingle(params: Readonly<Record<string, unknown>>): Parameters {
  const parameters = singleParameters(params);
  if (parameters) return parameters;
  throw invalidParameter('parameters', 'no parameter may be repeated');
}

/**
 * Parses the parameters of a page. Unlike a list of the API, a page accepts `as_of` for every view, so that
 * links between pages keep the moment.
 * @throws InvalidRequestError with all invalid parameters
 */
export function parseRequestedRows(
  relation: Relation,
  params: Readonly<Record<string, unknown>>,
): RequestedRows {
  const past = pastSupportOf(relation);
  const asOf = parseAsOf(params);
  const { as_of: _, ...rest } = params;
  const query = validateParameters(rowsParameters(relation), past.kind === 'known' ? params : rest);
  return { query: within(query, past, asOf), parameters: requireSingle(params), asOf, past };
}

function within(query: RowsQuery, past: PastSupport, asOf: string | null): RowsQuery {
  if (past.kind !== 'since' || asOf === null) return query;
  const { column } = past;
  const upTo = { column, type: 'timestamptz', operator: 'lte', value: asOf } as const;
  return { ...query, filters: [...query.filters, upTo] };
}
