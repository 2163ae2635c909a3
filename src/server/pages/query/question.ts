import { z } from 'zod';
import { instant, limitedText } from '../../../reporting/relations/filters.ts';
import { optional } from '../page-queries.ts';

/** Parses a moment in a form or a link for PostgreSQL; null for now. */
export const moment = optional(instant).transform((text) => text ?? null);

/** The parameters of a query. */
export const questionSchema = z.strictObject({ sql: limitedText, as_of: moment });

/** Maximum length of a statement in a link, in characters; `written` enforces it. */
export const MAX_STATEMENT_CHARACTERS = 4_000;
