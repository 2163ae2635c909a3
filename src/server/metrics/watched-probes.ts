import type postgres from 'postgres';
import { tableText } from '../../db/orm.ts';
import { targetDatasets, targets } from '../../db/schema/bookkeeping.ts';

/** The probes that the configuration asks for now: observer, node and probe. What was taken out of it is not told any more. */
export const watchedProbes = (sql: postgres.Sql) => sql`
  select t.target ->> 'observer' as observer, t.target ->> 'node' as node, t.target ->> 'probe' as probe,
    min(d.wanted_at) as wanted_at
  from ${sql.unsafe(tableText(targetDatasets))} d
  join ${sql.unsafe(tableText(targets))} t using (source, target_key)
  where d.dataset = 'node_health' and d.active
  group by 1, 2, 3`;

/** The most probes that are told one by one: each is a kilobyte of a scrape, and ten and more of memory. */
const MOST = 30_000;

/** In the words of the documentation. */
export const upToMost = `Told of up to ${MOST.toLocaleString('en')} probes; of more than that the part has no sample, and \`reporting.node_health_now\` tells how the nodes are.`;

/** @throws Error when there are more probes than are told one by one */
export async function refuseTooMany(sql: postgres.Sql): Promise<void> {
  const [watched] = await sql<{ count: number }[]>`
    select count(*)::int from recorder.target_datasets where dataset = 'node_health' and active`;
  if (watched && watched.count > MOST)
    throw new Error(
      `${watched.count} probes are more than are told one by one (${MOST}): reporting.node_health_now tells how the nodes are`,
    );
}
