import { PRIMARY_NETWORK } from '../../datasets/node/current-validators.ts';
import type { Rule } from '../rule.ts';
import { findOwnNodeIds } from './own-node-ids.ts';

/** Fires when the user's own validation ends soon. */
export const validationEnding: Rule = {
  name: 'validation-ending',
  about: 'The validation of a configured node or a watched validator ends soon.',
  severity: 'warning',
  for: 0,
  every: 600_000,
  limits: { days: 14 },
  needs: ['validators'],
  evaluate: async ({ sql, at, limits, facts }) => {
    const own = await findOwnNodeIds(sql, at, facts);
    // reporting.stake_expiring is not used, because it requires delegations, which are recorded for watched
    // validators only.
    const rows = await sql<
      { node_id: string; end_time: Date; days_left: number; stake: string; subject: string }[]
    >`
      with ending as (
        select distinct on (v.node_id, v.start_time, v.tx_id) coalesce(v.tx_id, v.node_id) as subject, v.node_id, v.end_time,
          (v.stake_navax * 0.000000001)::text as stake,
          extract(epoch from v.end_time - ${at}::timestamptz)::float8 / 86400 as days_left
        from reporting.validators_as_of(${at}::timestamptz) v
        where v.subnet_id = ${PRIMARY_NETWORK} and v.node_id = any(${[...own.keys()]}::text[])
        order by v.node_id, v.start_time, v.tx_id, v.valid_from desc, v.node
      )
      select * from ending where days_left > 0 and days_left <= ${limits.days} order by end_time, subject`;
    return rows.map(({ node_id, end_time, days_left, stake, subject }) => ({
      subject,
      severity: days_left < 2 ? 'critical' : undefined,
      summary: `the validation of ${own.get(node_id) ?? node_id} ends ${end_time.toISOString()}, in ${days_left.toFixed(1)} days (stake ${stake} AVAX)`,
      since: null,
      details: { node_id, end_time, days_left },
    }));
  },
};
