import { z } from 'zod';
import { INSTANT, INSTANT_EXAMPLE, instantIn } from '../instant.ts';
import { duration } from './duration-schema.ts';

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

const instant = z
  .string()
  .regex(INSTANT, `must be a time such as ${INSTANT_EXAMPLE}`)
  .transform((text, context) => {
    const at = instantIn(text);
    if (at !== null) return at;
    context.addIssue({ code: 'custom', message: `must be a time such as ${INSTANT_EXAMPLE}` });
    return z.NEVER;
  });
const timeOfDay = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day (UTC) such as "02:30", in quotes')
  .transform((text) => Number(text.slice(0, 2)) * 3_600_000 + Number(text.slice(3)) * 60_000);
const percent = z.number().gt(0).lte(100);

const common = {
  nodes: z.array(z.string()).nonempty().optional().describe('The nodes it is announced for; absent: all.'),
  reason: z.string().optional(),
};
const once = z
  .strictObject({ ...common, from: instant, to: instant })
  .refine(({ from, to }) => from < to, { path: ['to'], message: 'must be after from' });
const recurring = z.strictObject({
  ...common,
  days: z.array(z.enum(DAYS)).nonempty().optional().describe('Days of the week (UTC); absent: every day.'),
  at: timeOfDay.describe('When it begins (UTC).'),
  lasts: duration,
});

/** How node health is judged and reported. Maintenance comes out as {@link Announced} of src/health. */
export const healthSchema = z.strictObject({
  maintenance: z
    .array(z.union([once, recurring]))
    .default([])
    .describe('Announced windows, once (from, to) or recurring (days, at, lasts): neither up nor down.')
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
                lasts: window.lasts,
              },
            ]
          : [],
      ),
    })),
  target: percent.default(99.9).describe('The uptime promised a month, in percent.'),
  rewards: z
    .strictObject({
      uptime: percent.default(80),
      upgradeAt: instant.optional().describe('When the announced upgrade becomes active.'),
      uptimeAfter: percent.default(90).describe('For validations that start after it.'),
    })
    .prefault({})
    .describe('The uptime below which a validation is not rewarded, in percent.'),
});
