import { z } from 'zod';

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** Maximum duration: a hundred years, in ms. Larger values are not usable in calculations. */
const MAX_DURATION_MS = 36_500 * 86_400_000;

/** Schema of a duration such as 5s, 1m, 1h or 1d; parsed to ms. */
export const duration = z
  .string()
  .regex(/^\d+[smhd]$/, 'must be a duration such as 5s, 1m, 1h or 1d')
  .meta({ unit: 's, m, h or d; 5s or more', examples: ['30s', '15m', '1h', '7d'] })
  .transform((text) => Number(text.slice(0, -1)) * (UNITS[text.slice(-1)] ?? 0))
  .refine((milliseconds) => milliseconds >= 5000, 'must be at least 5s')
  .refine((milliseconds) => milliseconds <= MAX_DURATION_MS, 'must be at most 36500d');
