import { parseInstant } from '../../../lib/instant.ts';
import { type DatasetRelations, getCatalogue } from '../../../reporting/relations/catalogue.ts';
import type { Relation } from '../../../reporting/relations/relation.ts';
import type { Redirect } from '../page.ts';
import type { PastSupport } from './relations.ts';

/** Query parameters of a URL, each given once. */
export type Parameters = Readonly<Record<string, string>>;

/** Returns a URL on this server. Parameters that are null or undefined are omitted. */
export function hrefOf(
  path: string,
  parameters: Readonly<Record<string, string | number | null | undefined>> = {},
): string {
  const present = Object.entries(parameters).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, String(value)]],
  );
  // Decodes characters that are allowed in a query, for readability.
  const query = new URLSearchParams(present).toString().replaceAll('%3A', ':').replaceAll('%2C', ',');
  return query === '' ? path : `${path}?${query}`;
}

/** A page with its current parameters. */
export interface PageAddress {
  readonly path: string;
  readonly parameters: Parameters;
}

/**
 * Returns the URL of a page with other parameters, from its first row on.
 * @param changes new values of parameters; null removes a parameter
 */
export const changedAddress = (
  { path, parameters }: PageAddress,
  changes: Readonly<Record<string, string | null>>,
): string => hrefOf(path, { ...parameters, after: null, ...changes });

/** Returns the parameters that links to other rows keep: the moment in `as_of`. */
export const keepAsOf = ({ as_of: asOf }: Parameters): Parameters =>
  asOf === undefined ? {} : { as_of: asOf };

export function without(parameters: Parameters, ...names: readonly string[]): Parameters {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !names.includes(name)));
}

/**
 * Normalizes the fields of a form for a URL. Empty fields are omitted, and the selected checkboxes of
 * `columns` become one list. Other repeated fields are unchanged; the parser of the parameters refuses them.
 */
export function normalizeParameters(
  params: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(params).flatMap(([name, value]): [string, unknown][] => {
      if (value === '') return [];
      return [[name, name === 'columns' && Array.isArray(value) ? value.join(',') : value]];
    }),
  );
}

/** Returns the parameters if each is given once, else null. */
export function singleParameters(params: Readonly<Record<string, unknown>>): Parameters | null {
  const texts = Object.entries(params).filter((one): one is [string, string] => typeof one[1] === 'string');
  return texts.length === Object.keys(params).length ? Object.fromEntries(texts) : null;
}

/**
 * Removes empty form fields from the parameters of a page.
 * @returns the parameters, or a redirect to the shorter URL if there were empty fields
 */
export function canonicalizeParameters(
  path: string,
  params: Readonly<Record<string, unknown>>,
): Redirect | { readonly normalized: Readonly<Record<string, unknown>> } {
  const tidy = normalizeParameters(params);
  const parameters = singleParameters(tidy);
  const same = parameters === null || Object.entries(params).every(([name, value]) => tidy[name] === value);
  return same ? { normalized: tidy } : { location: hrefOf(path, parameters) };
}

/** Format of the response: the rows of the page as JSON, or all rows as CSV. */
export type DataFormat = 'json' | 'csv';

/** Returns the URL of the API for the rows of a page, with the same filters, columns, order and moment. */
export function rowsAddress(
  { name }: Relation,
  parameters: Parameters,
  past: PastSupport,
  form: DataFormat,
): string {
  const place = getCatalogue().datasets.has(name) ? `datasets/${name}/rows` : `views/${name}`;
  return hrefOf(`/api/v1/${place}.${form}`, pageOrAll(convertMoment(parameters, past), form));
}

/** Returns the URL of the API for the differences on a page. */
export const changesAddress = ({ now }: DatasetRelations, parameters: Parameters, form: DataFormat): string =>
  hrefOf(`/api/v1/datasets/${now.name}/changes.${form}`, pageOrAll(parameters, form));

/** Returns the parameters for a format. JSON contains the same page, CSV contains all rows. */
const pageOrAll = (parameters: Parameters, form: DataFormat) =>
  form === 'csv' ? without(parameters, 'after', 'limit') : parameters;

/**
 * Converts the moment of a page for the API: unchanged if past states can be read, a filter by time if all
 * rows are kept, else omitted.
 */
function convertMoment(parameters: Parameters, past: PastSupport): Parameters {
  const { as_of: moment, ...rest } = parameters;
  if (moment === undefined || past.kind === 'known') return parameters;
  if (past.kind === 'none') return rest;
  const filter = `${past.column}.lte`;
  const earlier = [moment, ...(rest[filter] === undefined ? [] : [rest[filter]])].toSorted(
    (one, other) => (parseInstant(one) ?? 0) - (parseInstant(other) ?? 0),
  );
  return { ...rest, [filter]: earlier[0] ?? moment };
}
