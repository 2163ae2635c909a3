import { z } from 'zod';
import { instant } from '../../../reporting/relations/filters.ts';
import { InvalidRequestError, validateParameters } from '../../../reporting/relations/invalid-request.ts';
import type { ReportingRelation } from '../../../reporting/relations/readable.ts';
import { type RowsQuery, rowsParameters } from '../../../reporting/relations/row-query.ts';
import { type Parameters, parametersOf } from './address.ts';

/** Support of a view for past times. */
export type PastSupport =
  /** As known at any moment. */
  | { readonly kind: 'known' }
  /** Every row is kept: rows up to a moment can be selected, with their current values. */
  | { readonly kind: 'since'; readonly column: string }
  /** Only as of now. */
  | { readonly kind: 'none' };

/** Parsed parameters of a page of rows. */
export interface RequestedRows {
  readonly question: RowsQuery;
  /** Parameters of the URL. */
  readonly parameters: Parameters;
  /** The moment, in a format that PostgreSQL parses; null for now. */
  readonly asOf: string | null;
  readonly past: PastSupport;
}

/** Columns with the start of a row, the best first. */
const SINCE = ['recorded_at', 'valid_from', 'observed_at', 'started_at', 'found_at', 'at'];

/** Returns how a view supports past moments. */
export function pastSupportOf({ asOf, parameters, columns }: ReportingRelation): PastSupport {
  if (asOf !== null || parameters?.some(({ name }) => name === 'as_of')) return { kind: 'known' };
  const column = SINCE.find((name) => columns.some((one) => one.name === name && one.type === 'timestamptz'));
  return column === undefined ? { kind: 'none' } : { kind: 'since', column };
}

/**
 * Parses the moment of `as_of`.
 * @throws InvalidRequestError if it is invalid
 */
export function parseAsOf(given: Readonly<Record<string, unknown>>): string | null {
  const moment = z.object({ as_of: instant.optional() });
  return validateParameters(moment, { as_of: given.as_of }).as_of ?? null;
}

/**
 * Parses the parameters of a page. Unlike a list of the API, a page accepts `as_of` for every view, so that
 * links between pages keep the moment.
 * @throws InvalidRequestError with all invalid parameters
 */
export function parseRequestedRows(
  readable: ReportingRelation,
  given: Readonly<Record<string, unknown>>,
): RequestedRows {
  const past = pastSupportOf(readable);
  const asOf = parseAsOf(given);
  const { as_of: _, ...rest } = given;
  const question = validateParameters(rowsParameters(readable), past.kind === 'known' ? given : rest);
  const parameters = parametersOf(given);
  if (!parameters)
    throw new InvalidRequestError([{ parameter: 'parameters', problem: 'no parameter may be repeated' }]);
  return { question: within(question, past, asOf), parameters, asOf, past };
}

function within(question: RowsQuery, past: PastSupport, asOf: string | null): RowsQuery {
  if (past.kind !== 'since' || asOf === null) return question;
  const { column } = past;
  return { ...question, filters: [...question.filters, { column, operator: 'lte', value: asOf }] };
}
