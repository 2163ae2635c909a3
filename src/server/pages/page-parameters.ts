import { z } from 'zod';
import { INSTANT_EXAMPLE, parseInstant } from '../../lib/instant.ts';
import { recorded } from '../../reporting/recorded-datasets.ts';

/** Returns the schema of an optional parameter. An empty text counts as a missing parameter. */
export const optionalParam = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === '' ? undefined : value), schema.optional());

/** Names of all datasets, sorted. */
export const datasetNames: readonly string[] = recorded.map(({ name }) => name).sort();

export const dataset = z
  .string()
  .refine((name) => datasetNames.includes(name), 'must be the name of a dataset, such as validators');

export const id = z.string().regex(/^\d{1,18}$/, 'must be a whole number of at most 18 digits');

/** A moment in a format that `parseInstant` parses, as ms since 1970. */
export const momentParam = z
  .string('must be a moment')
  .transform((text) => parseInstant(text))
  .refine((at) => at !== null, `must be a moment such as ${INSTANT_EXAMPLE}`);

/** Returns the schema of a parameter that accepts only some words. */
export const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, `must be one of ${words.join(', ')}`);
