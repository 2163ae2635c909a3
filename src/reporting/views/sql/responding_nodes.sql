create or replace function reporting_internal.responding_nodes(
  dataset text, -- The dataset of lists that every node reports, such as validators.
  as_of timestamptz -- Returns the data as of this moment.
)
returns table (
  list jsonb, -- The parameters of the request, without the node.
  node text -- A node whose last list is at most a day older than the newest list of all nodes.
)
language sql stable parallel safe as $$
with observed as (
  select t.target - 'node' as list, t.node, max(least(c.range_end, as_of)) as until
  from reporting_internal.node_targets t
  join reporting.coverage c on (c.dataset, c.target) = (t.dataset, t.target_key)
  where t.dataset = responding_nodes.dataset and c.range_start <= as_of
  group by 1, 2
)
select o.list, o.node
from (select observed.*, max(until) over (partition by observed.list) as newest from observed) o
where o.until >= o.newest - interval '24 hours'
$$;

comment on function reporting_internal.responding_nodes is 'The nodes that still answered at a moment, by list. A node that no longer answers keeps its last list.';
