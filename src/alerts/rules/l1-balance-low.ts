import { getMember } from '../../datasets/sources/answer.ts';
import type { AlertRule, RuleFinding } from '../rule.ts';

/** Fires when the balance of an L1 validator will soon be used up. */
export const l1BalanceLow: AlertRule = {
  name: 'l1-balance-low',
  about:
    'The balance of a validator of a watched L1 will be exhausted soon, at its current rate; then the validator becomes inactive.',
  severity: 'warning',
  for: 0,
  every: 600_000,
  limits: { days: 14 },
  needs: ['validators'],
  dependsOn: ({ details }) => [getMember(details, 'subnet_id')].filter((id) => typeof id === 'string'),
  evaluate: async ({ sql, at, limits }) => {
    // The earliest run-out comes first. The number of rows is not limited, because an open alert may depend
    // on any row.
    const rows = await sql<Row[]>`
      select subnet_id, validation_id, node_id, runs_dry_at, balance_avax::text,
        (extract(epoch from runs_dry_at - ${at}::timestamptz) / 86400)::float8 as days_left
      from reporting.l1_runway(null, 7, ${at}::timestamptz)
      where runs_dry_at <= ${at}::timestamptz + make_interval(secs => ${limits.days * 86_400}::float8)
        or (runs_dry_at is null and burned_per_day is null)
      order by runs_dry_at, validation_id`;
    return rows.map(foundOf);
  },
};

interface Row {
  readonly subnet_id: string;
  readonly validation_id: string;
  readonly node_id: string;
  /**
   * Expected time at which the balance is used up. Null if no decrease of the balance was recorded, because
   * the balance was polled too rarely for an estimate.
   */
  readonly runs_dry_at: Date | null;
  readonly balance_avax: string;
  readonly days_left: number | null;
}

function foundOf({
  subnet_id,
  validation_id,
  node_id,
  runs_dry_at,
  balance_avax,
  days_left,
}: Row): RuleFinding {
  const finding = {
    subject: validation_id,
    since: null,
    details: { node_id, subnet_id, runs_dry_at, balance_avax },
  };
  const balance = `the balance of ${node_id} on ${subnet_id}`;
  if (runs_dry_at === null || days_left === null)
    return { ...finding, summary: `${balance} was not seen to fall`, unknown: true };
  const severity = days_left < 2 ? ('critical' as const) : undefined;
  const at = runs_dry_at.toISOString();
  if (Number(balance_avax) === 0)
    return { ...finding, severity, summary: `${balance} is used up since ${at}` };
  return {
    ...finding,
    severity,
    summary:
      days_left <= 0
        ? `${balance} (${balance_avax} AVAX when last seen) should be used up since ${at}`
        : `${balance} (${balance_avax} AVAX) is used up ${at}, in ${days_left.toFixed(1)} days`,
  };
}
