import { z } from 'zod';
import { instant, written } from '../../../reporting/relations/filters.ts';
import { optional } from '../page-queries.ts';

/** Parses a moment in a form or a link for PostgreSQL; null for now. */
export const moment = optional(instant).transform((text) => text ?? null);

/** The parameters of a query. */
export const questionSchema = z.strictObject({ sql: written, as_of: moment });

/** Maximum length of a statement in a link, in characters; `written` enforces it. */
export const LONGEST = 4_000;
