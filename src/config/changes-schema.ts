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
        description: 'Its name, unique among the sinks: under it stands how far it is.',
        examples: ['lake'],
      }),
    type: z.literal('webhook').describe('What kind of sink it is: webhook.'),
    url: urlSchema.meta({
      description: `Where changes are posted; secret parts as \`${VARIABLE_PLACEHOLDER}\`.`,
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
      .describe('First change for a sink of a new name: the earliest that is kept, or the next one.'),
    batch: z
      .int()
      .min(1)
      .max(10_000)
      .default(500)
      .meta({ description: 'How many changes are posted at once, at most.', unit: 'changes' }),
  });
  return z.strictObject({
    keep: duration
      .prefault('7d')
      .describe(
        'How long it is kept what commits changed, so that readers of the feed can go on. What a sink has not taken is kept until it has.',
      ),
    sinks: z
      .array(sink)
      .default([])
      .meta({ description: 'Who is sent changes, as CloudEvents.', absent: 'nobody' }),
  });
}

/** Configuration of the change feed. */
export type ChangesConfig = z.infer<ReturnType<typeof changesSchema>>;
export type SinkConfig = ChangesConfig['sinks'][number];
