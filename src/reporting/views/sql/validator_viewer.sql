create or replace function reporting_internal.validator_viewer(
  subnet_id text, -- The subnet; the primary network is 11111111111111111111111111111111LpoYY.
  as_of timestamptz -- Returns the data as of this moment.
)
returns text
language sql stable parallel safe as $$
select h.node
from reporting.node_validators_history h
where h.subnet_id = validator_viewer.subnet_id and h.valid_from <= as_of
group by h.node
order by h.node in (
    select a.node from reporting_internal.responding_nodes('validators', as_of) a where a.list ->> 'subnetId' = validator_viewer.subnet_id) desc,
  bool_or(h.valid_to is null or h.valid_to > as_of) desc, min(h.valid_from), h.node
limit 1
$$;

comment on function reporting_internal.validator_viewer is 'The configured node whose list of validators has the longest current record, of the nodes that still answer (reporting_internal.responding_nodes). Queries read the list of this node only, because the lists of nodes can differ.';
