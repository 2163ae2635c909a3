create or replace function reporting.l1_changes(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  at timestamptz, -- Time at which the change was observed.
  subnet_id text, -- The subnet.
  change text, -- Kind of the change: appeared, converted (to an L1), owners changed, manager changed, or gone.
  before text, -- Owners or manager before the change.
  after text, -- Owners or manager after the change; for a conversion, the manager.
  is_l1 boolean, -- True if the subnet is an L1 after the change.
  blockchains text, -- Names of the blockchains of the subnet, as far as known at that time.
  created_at timestamptz, -- Time at which the subnet was created.
  tx_hash text, -- Transaction of the change. Null: the transaction is unknown. The transaction of a change of owners is known only from staking_transactions.
  on_chain_at timestamptz -- Block time of the transaction. Null: staking_transactions does not have the transaction.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting_internal.kept_from('subnets', "from") as since
),
-- A run that failed before the first successful run may have stored a part of the list.
record_starts as materialized (
  select r.target, min(r.recorded_since) as recorded_since
  from reporting_internal.recorded_since r where r.dataset = 'subnets' group by r.target
),
described as (
  select h.network, s.recorded_since, h.subnet_id, h.valid_from, h.valid_to, h.ended_by, h.create_block_timestamp, coalesce(h.is_l1, false) as is_l1,
    h.l1_conversion_transaction_hash, h.subnet_ownership_info_threshold, h.subnet_ownership_info_addresses,
    h.subnet_ownership_info_threshold || ' of ' || (
      select string_agg(o.address, ', ' order by o.address)
      from jsonb_array_elements_text(h.subnet_ownership_info_addresses) as o(address)) as owners,
    h.l1_validator_manager_details_contract_address || ' on ' || h.l1_validator_manager_details_blockchain_id as manager
  from reporting.subnets_history h left join record_starts s on s.target = 'network=' || h.network
  where h.valid_from <= as_of and reporting_internal.has_record('subnets', as_of)
),
versions as (
  -- A subnet that was gone and is listed again counts as appeared.
  select d.*, coalesce(lag(d.valid_to) over subnet < d.valid_from and lag(d.ended_by) over subnet = 'gone', true) as is_first,
    lag(d.is_l1) over subnet as was_l1, lag(d.owners) over subnet as owners_before,
    lag(d.manager) over subnet as manager_before, lag(d.valid_from) over subnet as before_from,
    d.valid_from > coalesce(d.recorded_since, min(d.valid_from) over ()) as is_new
  from described d
  window subnet as (partition by d.network, d.subnet_id order by d.valid_from)
),
transactions as not materialized (
  select h.network, h.tx_hash, h.tx_type, h.subnet_id, h.block_timestamp, h.subnet_ownership_info_threshold, h.subnet_ownership_info_addresses
  from reporting.staking_transactions_history h
  where h.valid_from <= as_of and (h.valid_to is null or h.valid_to > as_of)
),
transfers as materialized (
  select * from transactions t where t.tx_type = 'TransferSubnetOwnershipTx'
),
changes as (
  select v.valid_from as at, v.network, v.subnet_id, c.change, c.before, c.after, v.is_l1, v.create_block_timestamp, t.tx_hash, t.on_chain_at
  from versions v
  cross join lateral (values
    ('appeared', null, v.owners, v.is_first and v.is_new),
    ('converted', null, v.manager, v.is_l1 and case when v.is_first then v.is_new else not v.was_l1 end),
    ('owners changed', v.owners_before, v.owners, not v.is_first and v.owners is distinct from v.owners_before),
    ('manager changed', v.manager_before, v.manager, not v.is_first and v.was_l1 and v.manager is distinct from v.manager_before)
  ) as c(change, before, after, is_so)
  left join lateral (
    -- The id of a subnet is the hash of the transaction that created it.
    select v.subnet_id as tx_hash, v.create_block_timestamp as on_chain_at where c.change = 'appeared'
    union all
    select v.l1_conversion_transaction_hash, (
      select s.block_timestamp from transactions s
      where s.network = v.network and s.tx_hash = v.l1_conversion_transaction_hash)
    where c.change = 'converted'
    union all (
      select s.tx_hash, s.block_timestamp from transfers s
      where c.change = 'owners changed' and s.network = v.network and s.subnet_id = v.subnet_id
        and s.subnet_ownership_info_threshold = v.subnet_ownership_info_threshold
        and s.subnet_ownership_info_addresses = v.subnet_ownership_info_addresses
        and s.block_timestamp > v.before_from and s.block_timestamp <= v.valid_from
      order by s.block_timestamp desc limit 1)
  ) t on true
  where c.is_so
  union all
  select v.valid_to, v.network, v.subnet_id, 'gone', null, null, v.is_l1, v.create_block_timestamp, null, null
  from versions v where v.ended_by = 'gone' and v.valid_to <= as_of
)
select c.at, c.subnet_id, c.change, c.before, c.after, c.is_l1,
  (select string_agg(distinct b.blockchain_name, ', ') from reporting.blockchains_history b
    where b.network = c.network and b.subnet_id = c.subnet_id and b.valid_from <= c.at and (b.valid_to is null or b.valid_to > c.at)),
  c.create_block_timestamp, c.tx_hash, c.on_chain_at
from changes c cross join kept k
where c.at >= k.since and c.at < "to"
order by c.at, c.subnet_id, c.change
$$;

comment on function reporting.l1_changes is 'Subnets that appeared, disappeared, became L1s, or changed owners or manager, by the time of the observation.';
