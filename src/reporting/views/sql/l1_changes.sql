create or replace function reporting.l1_changes(
  "from" timestamptz, -- The first moment. What is not kept any more (reporting.retention) is left out.
  "to" timestamptz, -- The end, itself not in it.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  at timestamptz, -- When it was seen.
  subnet_id text, -- The subnet.
  change text, -- appeared, converted (to an L1), owners changed, manager changed, or gone.
  before text, -- Owners or manager before.
  after text, -- Owners or manager from then on; of a conversion the manager.
  is_l1 boolean, -- It is an L1 from then on.
  blockchains text, -- Its blockchains by name, as far as they were known then.
  created_at timestamptz -- When the subnet was made.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting_internal.kept_from('subnets', "from") as since
),
described as (
  select h.subnet_id, h.valid_from, h.valid_to, h.ended_by, h.create_block_timestamp, coalesce(h.is_l1, false) as is_l1,
    h.subnet_ownership_info_threshold || ' of ' || (
      select string_agg(o.address, ', ' order by o.address)
      from jsonb_array_elements_text(h.subnet_ownership_info_addresses) as o(address)) as owners,
    h.l1_validator_manager_details_contract_address || ' on ' || h.l1_validator_manager_details_blockchain_id as manager
  from reporting.subnets_history h
  where h.valid_from <= as_of and reporting_internal.has_record('subnets', as_of)
),
versions as (
  -- One that was gone appears again.
  select d.*, coalesce(lag(d.valid_to) over subnet < d.valid_from and lag(d.ended_by) over subnet = 'gone', true) as is_first,
    lag(d.is_l1) over subnet as was_l1, lag(d.owners) over subnet as owners_before,
    lag(d.manager) over subnet as manager_before,
    d.valid_from > min(d.valid_from) over () as is_new
  from described d
  window subnet as (partition by d.subnet_id order by d.valid_from)
),
changes as (
  select v.valid_from as at, v.subnet_id, c.change, c.before, c.after, v.is_l1, v.create_block_timestamp
  from versions v
  cross join lateral (values
    ('appeared', null, v.owners, v.is_first and v.is_new),
    ('converted', null, v.manager, v.is_l1 and case when v.is_first then v.is_new else not v.was_l1 end),
    ('owners changed', v.owners_before, v.owners, not v.is_first and v.owners is distinct from v.owners_before),
    ('manager changed', v.manager_before, v.manager, not v.is_first and v.was_l1 and v.manager is distinct from v.manager_before)
  ) as c(change, before, after, is_so)
  where c.is_so
  union all
  select v.valid_to, v.subnet_id, 'gone', null, null, v.is_l1, v.create_block_timestamp
  from versions v where v.ended_by = 'gone' and v.valid_to <= as_of
)
select c.at, c.subnet_id, c.change, c.before, c.after, c.is_l1,
  (select string_agg(distinct b.blockchain_name, ', ') from reporting.blockchains_history b
    where b.subnet_id = c.subnet_id and b.valid_from <= c.at and (b.valid_to is null or b.valid_to > c.at)),
  c.create_block_timestamp
from changes c cross join kept k
where c.at >= k.since and c.at < "to"
order by c.at, c.subnet_id, c.change
$$;

comment on function reporting.l1_changes is 'Subnets that appeared or went, became L1s, and changed owners or manager, when it was seen.';
