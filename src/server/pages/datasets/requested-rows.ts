import { z } from 'zod';
import { instant } from '../../../reporting/relations/filters.ts';
import { AskedWrongly, checked } from '../../../reporting/relations/invalid-request.ts';
import type { Readable } from '../../../reporting/relations/readable.ts';
import { type RowsQuestion, rowsParameters } from '../../../reporting/relations/row-query.ts';
import { type Parameters, parametersOf } from './address.ts';

/** How far the past of a view can be shown. */
export type Past =
  /** As it was known at any moment. */
  | { readonly kind: 'known' }
  /** Every row is kept: those that were there by a moment, as they are now. */
  | { readonly kind: 'since'; readonly column: string }
  /** Only as it is now. */
  | { readonly kind: 'none' };

/** What was asked of a page of rows. */
export interface AskedRows {
  readonly question: RowsQuestion;
  /** As in the address. */
  readonly parameters: Parameters;
  /** The moment, as PostgreSQL reads it; null: now. */
  readonly asOf: string | null;
  readonly past: Past;
}

/** Columns that say since when a row is there, the best first. */
const SINCE = ['recorded_at', 'valid_from', 'observed_at', 'started_at', 'found_at', 'at'];

/** How far the past of a view can be shown. */
export function pastOf({ asOf, parameters, columns }: Readable): Past {
  if (asOf !== null || parameters?.some(({ name }) => name === 'as_of')) return { kind: 'known' };
  const column = SINCE.find((name) => columns.some((one) => one.name === name && one.type === 'timestamptz'));
  return column === undefined ? { kind: 'none' } : { kind: 'since', column };
}

/** Reads the moment of `as_of`. @throws AskedWrongly when it is none */
export function asOfIn(given: Readonly<Record<string, unknown>>): string | null {
  const moment = z.object({ as_of: instant.optional() });
  return checked(moment, { as_of: given.as_of }).as_of ?? null;
}

/**
 * Reads what was asked of a page. Unlike a list of the API it takes `as_of` everywhere, so that the moment stays while one walks on.
 * @throws AskedWrongly with everything that is wrong
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
