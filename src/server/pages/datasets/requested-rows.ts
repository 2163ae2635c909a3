import { z } from 'zod';
import { instant } from '../../../reporting/relations/filters.ts';
import { AskedWrongly, checked } from '../../../reporting/relations/invalid-request.ts';
import type { Readable } from '../../../reporting/relations/readable.ts';
import { type RowsQuestion, rowsParameters } from '../../../reporting/relations/row-query.ts';
import { type Parameters, parametersOf } from './address.ts';

/** How a view supports past moments. */
export type Past =
  /** As known at any moment. */
  | { readonly kind: 'known' }
  /** Every row is kept: rows up to a moment can be selected, with their current values. */
  | { readonly kind: 'since'; readonly column: string }
  /** Only as of now. */
  | { readonly kind: 'none' };

/** Parsed parameters of a page of rows. */
export interface AskedRows {
  readonly question: RowsQuestion;
  /** As in the URL. */
  readonly parameters: Parameters;
  /** The moment, in a format that PostgreSQL parses; null for now. */
  readonly asOf: string | null;
  readonly past: Past;
}

/** Columns with the start of a row, the best first. */
const SINCE = ['recorded_at', 'valid_from', 'observed_at', 'started_at', 'found_at', 'at'];

/** Returns how a view supports past moments. */
export function pastOf({ asOf, parameters, columns }: Readable): Past {
  if (asOf !== null || parameters?.some(({ name }) => name === 'as_of')) return { kind: 'known' };
  const column = SINCE.find((name) => columns.some((one) => one.name === name && one.type === 'timestamptz'));
  return column === undefined ? { kind: 'none' } : { kind: 'since', column };
}

/**
 * Parses the moment of `as_of`.
 * @throws AskedWrongly if it is invalid
 */
export function asOfIn(given: Readonly<Record<string, unknown>>): string | null {
  const moment = z.object({ as_of: instant.optional() });
  return checked(moment, { as_of: given.as_of }).as_of ?? null;
}

/**
 * Parses the parameters of a page. Unlike a list of the API, a page accepts `as_of` for every view, so that
 * links between pages keep the moment.
 * @throws AskedWrongly with all invalid parameters
 */
export function askedRows(readable: Readable, given: Readonly<Record<string, unknown>>): AskedRows {
  const past = pastOf(readable);
  const asOf = asOfIn(given);
  const { as_of: _, ...rest } = given;
  const question = checked(rowsParameters(readable), past.kind === 'known' ? given : rest);
  const parameters = parametersOf(given);
  if (!parameters) throw new AskedWrongly([{ parameter: 'parameters', problem: 'must be given once each' }]);
  return { question: within(question, past, asOf), parameters, asOf, past };
}

function within(question: RowsQuestion, past: Past, asOf: string | null): RowsQuestion {
  if (past.kind !== 'since' || asOf === null) return question;
  const { column } = past;
  return { ...question, filters: [...question.filters, { column, operator: 'lte', value: asOf }] };
}
