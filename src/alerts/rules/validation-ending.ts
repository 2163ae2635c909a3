import type postgres from 'postgres';
import { PRIMARY_NETWORK } from '../../datasets/node/current-validators.ts';
import { getMember } from '../../datasets/sources/answer.ts';
import type { AlertRule, RuleFacts } from '../rule.ts';
import { isRecordedAt } from './is-recorded-at.ts';

/** Fires when the user's own validation ends soon. */
export const validationEnding: AlertRule = {
  name: 'validation-ending',
  about: 'The validation of a configured node or a watched validator ends soon.',
  severity: 'warning',
  for: 0,
  every: 600_000,
  limits: { days: 14 },
  needs: ['validators'],
  dependsOn: ({ details }) => [getMember(details, 'watched_as')].filter((name) => typeof name === 'string'),
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
        from reporting.node_validators_as_of(${at}::timestamptz) v
        where v.subnet_id = ${PRIMARY_NETWORK} and v.node_id = any(${[...own.keys()]}::text[])
        order by v.node_id, v.start_time, v.tx_id, v.valid_from desc, v.node
      )
      select * from ending where days_left > 0 and days_left <= ${limits.days} order by end_time, subject`;
    return rows.map(({ node_id, end_time, days_left, stake, subject }) => ({
      subject,
      severity: days_left < 2 ? 'critical' : undefined,
      summary: `the validation of ${own.get(node_id) ?? node_id} ends ${end_time.toISOString()}, in ${days_left.toFixed(1)} days (stake ${stake} AVAX)`,
      since: null,
      details: { node_id, end_time, days_left, watched_as: own.get(node_id) },
    }));
  },
};

/**
 * Returns the user's own validators (configured nodes and `watch.nodeIds`): the name of the node, or else its
 * id, by node id.
 */
async function findOwnNodeIds(sql: postgres.Sql, at: Date, facts: RuleFacts): Promise<Map<string, string>> {
  const known = (await isRecordedAt(sql, at, ['node_identity']))
    ? await sql<{ node: string; node_id: string }[]>`
      select node, node_id from reporting.node_identity_as_of(${at}::timestamptz)
      where node = any(${[...facts.nodes]}::text[]) and node_id is not null`
    : [];
  return new Map([
    ...facts.nodeIds.map((id): [string, string] => [id, id]),
    ...known.map(({ node, node_id }): [string, string] => [node_id, node]),
  ]);
}
