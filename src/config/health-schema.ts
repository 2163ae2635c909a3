import { z } from 'zod';
import { INSTANT_EXAMPLE, INSTANT_PATTERN, parseInstant } from '../lib/instant.ts';
import { duration } from './duration-schema.ts';

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

const instant = z
  .string()
  .regex(INSTANT_PATTERN, `must be a time such as ${INSTANT_EXAMPLE}`)
  .meta({ unit: 'UTC unless it has an offset', examples: ['2026-12-01T02:00', '2026-12-01T02:00:00+01:00'] })
  .transform((text, context) => {
    const at = parseInstant(text);
    if (at !== null) return at;
    context.addIssue({ code: 'custom', message: `must be a time such as ${INSTANT_EXAMPLE}` });
    return z.NEVER;
  });
/** Schema of a time of day; parsed to ms since midnight. */
export const timeOfDaySchema = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day (UTC) such as "02:30", in quotes')
  .meta({ unit: 'UTC', examples: ['02:30'] })
  .transform((text) => Number(text.slice(0, 2)) * 3_600_000 + Number(text.slice(3)) * 60_000);
const percent = z.number().gt(0).lte(100).meta({ unit: 'percent' });

const common = {
  nodes: z
    .array(z.string())
    .nonempty()
    .optional()
    .meta({ description: 'Names of the nodes.', absent: 'all nodes' }),
  reason: z
    .string()
    .optional()
    .meta({ description: 'Reason, for readers of this file. It is not recorded.', absent: 'none' }),
};
const once = z
  .strictObject({
    ...common,
    from: instant.describe('Start.'),
    to: instant.describe('End.'),
  })
  .refine(({ from, to }) => from < to, { path: ['to'], message: 'must be after from' });
const recurring = z.strictObject({
  ...common,
  days: z
    .array(z.enum(DAYS))
    .nonempty()
    .optional()
    .meta({ description: 'Days of the week (UTC).', absent: 'every day' }),
  at: timeOfDaySchema.describe('Start on each of the days, in quotes.'),
  duration: duration.describe('Length of the window.'),
});

/**
 * Schema of `health`: evaluation and reporting of node health. Maintenance is parsed to {@link Announced} of
 * src/health.
 */
export const healthSchema = z.strictObject({
  maintenance: z
    .array(z.union([once, recurring]))
    .default([])
    .transform((windows) => ({
      once: windows.flatMap((window) =>
        'from' in window ? [{ nodes: window.nodes ?? null, from: window.from, to: window.to }] : [],
      ),
      recurring: windows.flatMap((window) =>
        'at' in window
          ? [
              {
                nodes: window.nodes ?? null,
                days: new Set((window.days ?? DAYS).map((day) => DAYS.indexOf(day))),
                at: window.at,
                duration: window.duration,
              },
            ]
          : [],
      ),
    }))
    .meta({
      description:
        'Announced windows of maintenance, once (from, to) or recurring (days, at, duration). In them a node is neither up nor down.',
      absent: 'none',
    }),
  partitions: z.int().min(1).max(100).default(1).meta({
    description:
      "Number of partitions of this observer's nodes. Each is probed by one process at a time and has its own ledger: [divide the nodes among processes](../how-to/high-availability.md#divide-the-nodes-among-processes).",
    unit: 'partitions',
  }),
  slo: percent.default(99.9).describe('Promised uptime of a month. `report sla --slo` overrides it.'),
  rewards: z
    .strictObject({
      minUptime: percent
        .default(80)
        .describe('For validations that start before `upgradeAt`, and for all if it is not set.'),
      upgradeAt: instant.optional().meta({
        description: 'Activation time of the announced upgrade.',
        absent: 'no upgrade is announced',
      }),
      minUptimeAfterUpgrade: percent
        .default(90)
        .describe('For validations that start at `upgradeAt` or later.'),
    })
    .prefault({})
    .describe('Minimum uptime of a validation for its reward.'),
});
