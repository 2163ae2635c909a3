create or replace function reporting_internal.node_health_version_id(
  observer text, -- The observer.
  node text, -- The configured node.
  probe text, -- The probe.
  check_name text, -- The check, or * for the probe as a whole.
  started_at timestamptz -- Start of the interval.
)
returns uuid
language sql stable parallel safe as $$
  select md5('node_health ' || length(observer) || ':' || observer || length(node) || ':' || node || length(probe) || ':' || probe
    || length(check_name) || ':' || check_name || trim_scale(extract(epoch from started_at) * 1000000) || ',')::uuid
$$;

comment on function reporting_internal.node_health_version_id is 'The surrogate key of an interval of the uptime ledger: a hash of its key and its start.';
