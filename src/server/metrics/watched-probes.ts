import type postgres from 'postgres';
import { tableText } from '../../db/orm.ts';
import { targetDatasets, targets } from '../../db/schema/bookkeeping.ts';

/**
 * Returns the SQL query of the currently configured probes, by observer, node and probe. Removed probes have
 * no samples.
 */
export const watchedProbes = (sql: postgres.Sql) => sql`
  select t.target ->> 'observer' as observer, t.target ->> 'node' as node, t.target ->> 'probe' as probe,
    min(d.requested_since) as requested_since
  from ${sql.unsafe(tableText(targetDatasets))} d
  join ${sql.unsafe(tableText(targets))} t using (source, target_key)
  where d.dataset = 'node_health' and d.active
  group by 1, 2, 3`;

/** Maximum number of probes. Each takes 1 kB of a scrape, and 10 kB or more of memory. */
const MAX_PROBES = 30_000;

/** Note about {@link MAX_PROBES} for the documentation. */
export const probeLimitNote = `Maximum ${MAX_PROBES.toLocaleString('en')} probes: with more the part has no sample; use \`reporting_internal.node_health_now\` instead.`;

/**
 * Rejects a number of probes above {@link MAX_PROBES}.
 * @throws Error if there are more probes
 */
export async function refuseTooManyProbes(sql: postgres.Sql): Promise<void> {
  const [watched] = await sql<{ count: number }[]>`
    select count(*)::int from recorder.target_datasets where dataset = 'node_health' and active`;
  if (watched && watched.count > MAX_PROBES)
    throw new Error(
      `${watched.count} probes exceed the maximum of ${MAX_PROBES} for metrics: query reporting_internal.node_health_now instead`,
    );
}
