import type postgres from 'postgres';

/** The probes that the configuration asks for now: observer, node and probe. What was taken out of it is not told any more. */
export const watchedProbes = (sql: postgres.Sql) => sql`
  select t.target ->> 'observer' as observer, t.target ->> 'node' as node, t.target ->> 'probe' as probe,
    min(d.wanted_at) as wanted_at
  from recorder.target_datasets d
  join recorder.targets t using (source, target_key)
  where d.dataset = 'node_health' and d.active
  group by 1, 2, 3`;
