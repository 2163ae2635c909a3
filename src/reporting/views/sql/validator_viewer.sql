create or replace function reporting_internal.validator_viewer(
  subnet_id text, -- The subnet; the primary network is 11111111111111111111111111111111LpoYY.
  as_of timestamptz -- Returns the data as of this moment.
)
returns text
language sql stable parallel safe as $$
with observed as (
  select t.node, max(least(c.range_end, as_of)) as until
  from reporting_internal.node_targets t
  join reporting.coverage c on (c.dataset, c.target) = (t.dataset, t.target_key)
  where t.dataset = 'validators' and t.target ->> 'subnetId' = validator_viewer.subnet_id and c.range_start <= as_of
  group by t.node
),
-- A node that no longer answers keeps its last list.
answering as (
  select o.node from observed o where o.until >= (select max(newest.until) from observed newest) - interval '24 hours'
)
select h.node
from reporting.node_validators_history h
where h.subnet_id = validator_viewer.subnet_id and h.valid_from <= as_of
group by h.node
order by bool_or(h.valid_to is null or h.valid_to > as_of) desc, h.node in (select a.node from answering a) desc,
  min(h.valid_from), h.node
limit 1
$$;

comment on function reporting_internal.validator_viewer is 'The configured node whose list of validators has the longest current record; a list that is a day older than the newest list of another node is used only if no other is current. Queries read the list of this node only, because the lists of nodes can differ.';
