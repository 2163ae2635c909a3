import { z } from 'zod';
import { instantParam, limitedText } from '../../../reporting/relations/filters.ts';
import { optionalParam } from '../page-parameters.ts';

/** Parses a moment in a form or a link for PostgreSQL; null for now. */
export const asOfParam = optionalParam(instantParam).transform((text) => text ?? null);

/** The parameters of a query. */
export const queryParametersSchema = z.strictObject({ sql: limitedText, as_of: asOfParam });

/** Maximum length of a statement in a link, in characters; `written` enforces it. */
export const MAX_STATEMENT_CHARACTERS = 4_000;
