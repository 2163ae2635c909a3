import { z } from 'zod';
import { instant, written } from '../../../reporting/relations/filters.ts';
import { optional } from '../page-queries.ts';

/** A moment as a form or a link gives it, as PostgreSQL reads it; null: now. */
export const moment = optional(instant).transform((text) => text ?? null);

/** The parameters of a question that is asked. */
export const questionSchema = z.strictObject({ sql: written, as_of: moment });

/** The longest statement that a link holds, in characters: `written` says so. */
export const LONGEST = 4_000;
