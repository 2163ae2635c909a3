create or replace function reporting.node_versions(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  node text, -- The configured node.
  version text, -- The version of the node.
  rpc_protocol_version numeric, -- Protocol version of the virtual machines of the node.
  since timestamptz, -- Time from which the node ran the version, as far as observed; not before the retained data.
  until timestamptz -- End of the version. Null: the node still runs the version.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting_internal.kept_from('node_identity', "from") as since
),
versions as (
  select i.node, i.version, i.rpc_protocol_version, i.valid_from, case when i.valid_to <= as_of then i.valid_to end as valid_to,
    (i.version, i.rpc_protocol_version) is distinct from (lag(i.version) over node, lag(i.rpc_protocol_version) over node)
      or i.valid_from is distinct from lag(i.valid_to) over node as begins
  from reporting.node_identity_history i
  where i.valid_from <= as_of and reporting_internal.has_record('node_identity', as_of)
  window node as (partition by i.node order by i.valid_from)
),
counted as (
  select v.*, count(*) filter (where v.begins) over (partition by v.node order by v.valid_from) as period from versions v
)
select c.node, c.version, c.rpc_protocol_version,
  reporting_internal.kept_from('node_identity', min(c.valid_from)), (array_agg(c.valid_to order by c.valid_from desc))[1]
from counted c
group by c.node, c.period, c.version, c.rpc_protocol_version
having min(c.valid_from) < "to" and coalesce((array_agg(c.valid_to order by c.valid_from desc))[1] > (select k.since from kept k), true)
order by 1, 4
$$;

comment on function reporting.node_versions is 'The versions of each configured node over time.';
