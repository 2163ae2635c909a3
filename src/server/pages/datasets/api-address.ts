import { instantIn } from '../../../lib/instant.ts';
import type { ReadableDataset } from '../../../reporting/relations/catalogue.ts';
import { hrefOf, type Parameters, without } from './address.ts';
import type { Relation } from './relations.ts';
import type { Past } from './requested-rows.ts';

/** How an answer is wanted: the page of rows as JSON, or all of the rows as CSV. */
export type Form = 'json' | 'csv';

/** The address of the API with the rows of a page: the same filters, columns, order and moment. */
export function rowsAddress(
  { readable: { name }, dataset }: Relation,
  parameters: Parameters,
  past: Past,
  form: Form,
): string {
  const place = dataset?.name === name ? `datasets/${name}/rows` : `views/${name}`;
  return hrefOf(`/api/v1/${place}.${form}`, pageOrAll(told(parameters, past), form));
}

/** The address of the API with the differences of a page. */
export const changesAddress = ({ name }: ReadableDataset, parameters: Parameters, form: Form): string =>
  hrefOf(`/api/v1/datasets/${name}/changes.${form}`, pageOrAll(parameters, form));

/** CSV has all rows. */
const pageOrAll = (parameters: Parameters, form: Form) =>
  form === 'csv' ? without(parameters, 'after', 'limit') : parameters;

/** The moment of a page as the API takes it: where the past is not kept, a filter, or nothing. */
function told(parameters: Parameters, past: Past): Parameters {
  const { as_of: moment, ...rest } = parameters;
  if (moment === undefined || past.kind === 'known') return parameters;
  if (past.kind === 'none') return rest;
  const filter = `${past.column}.lte`;
  const earlier = [moment, ...(rest[filter] === undefined ? [] : [rest[filter]])].toSorted(
    (one, other) => (instantIn(one) ?? 0) - (instantIn(other) ?? 0),
  );
  return { ...rest, [filter]: earlier[0] ?? moment };
}
