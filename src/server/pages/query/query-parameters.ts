import { z } from 'zod';
import { instantParam, limitedText } from '../../../reporting/relations/filters.ts';
import { optionalParam } from '../page-parameters.ts';

/** A moment in a form or a link, in a format that PostgreSQL parses; null: now. */
export const asOfParam = optionalParam(instantParam).transform((text) => text ?? null);

export const queryParametersSchema = z.strictObject({ sql: limitedText, as_of: asOfParam });

/** Maximum length of a statement in a link, in characters. `limitedText` rejects longer statements. */
export const MAX_STATEMENT_CHARACTERS = 4_000;
