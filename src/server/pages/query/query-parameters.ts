import { z } from 'zod';
import { instantParam, limitedText } from '../../../reporting/relations/filters.ts';
import { optionalParam } from '../page-parameters.ts';

/** A moment in a form or a link, in a format that PostgreSQL parses; null: now. */
export const asOfParam = optionalParam(instantParam).transform((text) => text ?? null);

export const queryParametersSchema = z.strictObject({ sql: limitedText, as_of: asOfParam });

/** Maximum length of a statement in a link, in characters. `limitedText` rejects longer statements. */
export const MAX_STATEMENT_CHARACTERS = 4_000;

interface QueryLinkParameters {
  readonly sql: string;
  /** Moment for names without a schema: their rows are returned as of this moment. Default: now. */
  readonly asOf?: string | null;
  readonly show?: 'table' | 'chart';
}

/**
 * Returns the URL of a query's result.
 * @param form format of a file. Default: the page
 */
export function queryLink(
  { sql, asOf, show }: QueryLinkParameters,
  form: '' | '.json' | '.csv' = '',
): string {
  const query = new URLSearchParams({ sql });
  if (asOf) query.set('as_of', asOf);
  if (show === 'chart' && form === '') query.set('show', show);
  return `/query${form}?${query}`;
}
