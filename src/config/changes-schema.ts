import { z } from 'zod';
import { headersSchema, urlSchema, VARIABLE_PLACEHOLDER } from './addresses-schema.ts';
import { duration } from './duration-schema.ts';

/**
 * Returns the schema of `changes` in `recorder.yaml`.
 * @param datasets names of the recorded datasets
 */
export function changesSchema(datasets: readonly string[]) {
  const sink = z.strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'must be letters, digits, dots, dashes or underscores')
      .meta({
        description: 'Name of the sink, unique. Its progress is stored under this name.',
        examples: ['lake'],
      }),
    type: z.literal('webhook').describe('Type of the sink: webhook.'),
    url: urlSchema.meta({
      description: `URL that changes are posted to; secret parts as \`${VARIABLE_PLACEHOLDER}\`.`,
      examples: ['https://service.example/changes'],
    }),
    headers: headersSchema,
    datasets: z
      .array(z.enum(datasets))
      .nonempty()
      .optional()
      .meta({ description: 'Only changes of these datasets.', absent: 'all' }),
    startAt: z
      .enum(['earliest', 'now'])
      .default('earliest')
      .describe('First change for a sink with a new name: the earliest that is kept, or the next one.'),
    batchSize: z
      .int()
      .min(1)
      .max(10_000)
      .default(500)
      .meta({ description: 'Maximum number of changes in a request.', unit: 'changes' }),
  });
  return z.strictObject({
    keep: duration
      .prefault('7d')
      .describe('Retention of changes. Changes that a sink has not accepted are kept until it has.'),
    sinks: z
      .array(sink)
      .default([])
      .meta({ description: 'Receivers of changes, as CloudEvents.', absent: 'none' }),
  });
}

/** Configuration of the change feed. */
export type ChangesConfig = z.infer<ReturnType<typeof changesSchema>>;
export type SinkConfig = ChangesConfig['sinks'][number];
