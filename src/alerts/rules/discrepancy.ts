import type { AlertRule } from '../rule.ts';

/** Fires when sources contradict each other. */
export const discrepancy: AlertRule = {
  name: 'discrepancy',
  about: 'Two sources or two nodes disagree by more than the tolerance.',
  severity: 'warning',
  for: 0,
  every: 300_000,
  limits: { threshold: 1 },
  evaluate: async ({ sql, at, limits }) => {
    const rows = await sql<Row[]>`
      select check_name, count(*)::int as open, min(found_at) as since,
        (array_agg(subject order by found_at desc, id desc))[1] as subject,
        (array_agg(left_source || ': ' || left(left_value, 100) || ', ' || right_source || ': ' || left(right_value, 100)
          order by found_at desc, id desc))[1] as words
      from reporting.discrepancies
      where found_at <= ${at}::timestamptz and (ended_at is null or ended_at > ${at}::timestamptz)
      group by check_name having count(*) >= ${limits.threshold} order by check_name`;
    return rows.map(({ check_name, open, since, subject, words }) => ({
      subject: check_name,
      summary: `${open} ${open === 1 ? 'discrepancy' : 'discrepancies'} of ${check_name}, the latest about ${subject}: ${words}`,
      since,
      details: { open, subject },
    }));
  },
};

interface Row {
  readonly check_name: string;
  readonly open: number;
  readonly since: Date;
  readonly subject: string;
  readonly words: string;
}
