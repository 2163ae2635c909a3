import { parseInstant } from '../../../lib/instant.ts';
import type { ReadableDataset } from '../../../reporting/relations/catalogue.ts';
import { hrefOf, type Parameters, without } from './address.ts';
import type { Relation } from './relations.ts';
import type { PastSupport } from './requested-rows.ts';

/** Format of the response: the rows of the page as JSON, or all rows as CSV. */
export type DataFormat = 'json' | 'csv';

/** Returns the URL of the API for the rows of a page, with the same filters, columns, order and moment. */
export function rowsAddress(
  { readable: { name }, dataset }: Relation,
  parameters: Parameters,
  past: PastSupport,
  form: DataFormat,
): string {
  const place = dataset?.name === name ? `datasets/${name}/rows` : `views/${name}`;
  return hrefOf(`/api/v1/${place}.${form}`, pageOrAll(convertMoment(parameters, past), form));
}

/** Returns the URL of the API for the differences on a page. */
export const changesAddress = ({ name }: ReadableDataset, parameters: Parameters, form: DataFormat): string =>
  hrefOf(`/api/v1/datasets/${name}/changes.${form}`, pageOrAll(parameters, form));

/** CSV contains all rows. */
const pageOrAll = (parameters: Parameters, form: DataFormat) =>
  form === 'csv' ? without(parameters, 'after', 'limit') : parameters;

/** Converts the moment of a page for the API: to a filter if past states are not stored, or to nothing. */
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
