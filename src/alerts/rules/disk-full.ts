import { fullAt } from '../../reporting/reports/disk.ts';
import type { AlertRule } from '../rule.ts';

const SUBJECT = 'the disk of the database';

/** Fires when the disk of the embedded database will soon be full. */
export const diskFull: AlertRule = {
  name: 'disk-full',
  about:
    'The disk of the embedded database will be full soon, at the growth of the last sealed days. The disk of another server is not visible to the recorder.',
  severity: 'warning',
  for: 0,
  every: 600_000,
  limits: { days: 14 },
  onlyNow: 'past values of the free disk space are not recorded',
  evaluate: async ({ at, limits, facts }) => {
    const use = await facts.disk();
    if (use.free === null) return [];
    // Without a recent seal, for example because the disk is full, the growth is unknown.
    if (use.perDay === null)
      return [{ subject: SUBJECT, summary: 'the growth per day is unknown', since: null, unknown: true }];
    const full = fullAt(use, at.getTime());
    if (full === null) return [];
    const days = (full - at.getTime()) / 86_400_000;
    if (days > limits.days) return [];
    return [
      {
        subject: SUBJECT,
        severity: days < 2 ? 'critical' : undefined,
        summary: `the disk is full in ${days.toFixed(1)} days at the current growth: ${gigabytes(use.free)} free, ${gigabytes(use.perDay)} a day`,
        since: null,
        details: { free: use.free, per_day: use.perDay, full_at: new Date(full) },
      },
    ];
  },
};

const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(2)} GB`;
