import { z } from 'zod';
import { duration } from './duration-schema.ts';

const DAY = 86_400_000;

/**
 * Returns the schema of `retention` in `recorder.yaml`.
 * @param shortest minimum retention of each dataset, in ms
 */
export function retentionSchema(shortest: ReadonlyMap<string, number>) {
  return z
    .partialRecord(
      z.enum([...shortest.keys()]),
      duration.meta({
        description: 'Rows that were superseded, ended or recorded earlier are removed, one day at a time.',
        unit: 'd; 7d or more, of series 90d or more',
        absent: 'forever',
        examples: ['400d'],
      }),
    )
    .default({})
    .superRefine(
      (kept, context) => {
        for (const [name, keep] of Object.entries(kept)) {
          const least = shortest.get(name) ?? 0;
          if (!context.issues.some(({ path }) => path?.[0] === name) && keep !== undefined && keep < least)
            context.addIssue({ code: 'custom', path: [name], message: `must be at least ${least / DAY}d` });
        }
      },
      // Also runs if a name is unknown.
      { when: () => true },
    );
}
