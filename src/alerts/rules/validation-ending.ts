import type { Rule } from '../rule.ts';
import { ownNodeIds } from './own-node-ids.ts';

/** A validation of one's own, or a delegation to it, ends soon. */
export const validationEnding: Rule = {
  name: 'validation-ending',
  about: 'The validation of a configured node or a watched validator ends soon.',
  severity: 'warning',
  for: 0,
  every: 600_000,
  limits: { days: 14 },
  needs: ['validators', 'validator_delegators'],
  ask: async ({ sql, at, limits, facts }) => {
    const own = await ownNodeIds(sql, at, facts);
    const rows = await sql<
      { node_id: string; end_time: Date; days_left: number; stake: string; tx_id: string }[]
    >`
      select node_id, end_time, days_left::float8, stake_avax::text as stake, tx_id
      from reporting.stake_expiring(${Math.ceil(limits.days)}::bigint, null, ${at}::timestamptz)
      where kind = 'validator' and node_id = any(${[...own.keys()]}::text[]) and days_left <= ${limits.days}
      order by end_time`;
    return rows.map(({ node_id, end_time, days_left, stake, tx_id }) => ({
      subject: tx_id,
      severity: days_left < 2 ? 'critical' : undefined,
      summary: `the validation of ${own.get(node_id) ?? node_id} ends ${end_time.toISOString()}, in ${days_left.toFixed(1)} days (stake ${stake} AVAX)`,
      since: null,
      details: { node_id, end_time, days_left },
    }));
  },
};
