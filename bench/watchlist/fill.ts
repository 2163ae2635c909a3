import type postgres from 'postgres';

/**
 * Fills the bookkeeping as after a month of complete recording: one target in a hundred fails, one in a thousand nodes
 * is down.
 */
export async function fill(sql: postgres.Sql): Promise<void> {
  await sql`
    update recorder.target_datasets set first_success_at = now() - interval '30 days', requested_since = now() - interval '30 days',
      last_success_at = now() - abs(hashtext(target_key) % 3600) * interval '0.9 seconds', last_complete_at = now(),
      failures = case when hashtext(target_key) % 100 = 0 then 1 else 0 end,
      last_error = case when hashtext(target_key) % 100 = 0 then 'the call failed (503)' end,
      last_failure_at = case when hashtext(target_key) % 100 = 0 then now() - interval '10 minutes' end
    where dataset <> 'node_health'`;
  await sql`
    insert into recorder.coverage (dataset, target_key, axis, covered)
    select dataset, target_key, 'time', int8multirange(int8range(expected_from, (extract(epoch from last_success_at) * 1000)::bigint))
    from recorder.target_datasets where dataset <> 'node_health'`;
  await sql`
    update recorder.target_datasets set requested_since = now() - interval '30 days' where dataset = 'node_health'`;
  await sql`
    insert into recorder.health_observers (observer, holder, lease_until, heartbeat_at)
    select distinct target ->> 'observer', 'host/1/process/x', now() + interval '1 day', now() from recorder.targets where source = 'node-health'`;
  const list = sql`(select t.target ->> 'observer' as observer, t.target ->> 'node' as node, t.target ->> 'probe' as probe
    from recorder.targets t where t.source = 'node-health')`;
  await sql`
    insert into recorder.health_probes (observer, node, probe, probes, probed_at) select observer, node, probe, 40000, now() from ${list} t`;
  await sql`
    insert into recorder.node_health (observer, node, probe, check_name, state, error, started_at, probes_before)
    select observer, node, probe, '*', case when hashtext(node) % 1000 = 0 then 'down' else 'up' end,
      case when hashtext(node) % 1000 = 0 then 'the call failed (ECONNREFUSED)' end, now() - interval '30 days', 0 from ${list} t`;
  await sql`analyze`;
}
