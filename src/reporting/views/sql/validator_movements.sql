create or replace function reporting.validator_movements(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  subnet_id text default '11111111111111111111111111111111LpoYY', -- The subnet. Default: the primary network.
  seen_by text default null, -- The configured node whose observations are used. Null: of the nodes that still answer, the node with the longest record.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  at timestamptz, -- Time at which the change was observed; for changed, the last change of the day.
  change text, -- Kind of the change: joined, left, or changed (another weight, own or delegated), with one row per day (UTC).
  node_id text, -- The validator.
  tx_id text, -- Staking transaction of the validator. Null: the validator belongs to an L1.
  validation_id text, -- Validation on an L1. Null: the validator stakes on the primary network or a subnet.
  start_time timestamptz, -- Start of the validation.
  end_time timestamptz, -- End of the validation. Null: the validation has no end.
  expired boolean, -- True if the validator left at its end or later. Null: the validator did not leave, or has no end.
  stake_navax numeric, -- Stake of the validator in nAVAX. Null outside the primary network.
  weight numeric, -- Weight of the validator in the unit of the subnet.
  delegated numeric, -- Weight of the delegations to the validator in the unit of the subnet.
  weight_before numeric, -- Weight before the changes of the day. Null: the validator joined or left.
  delegated_before numeric -- Weight of the delegations before the changes of the day, in the unit of the subnet. Null: the validator joined or left, or no delegations are reported.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting_internal.kept_from('validators', "from") as since
),
viewer as materialized (
  select coalesce(seen_by, reporting_internal.validator_viewer(validator_movements.subnet_id, as_of)) as node
),
first_lists as (
  select h.subnet_id, min(h.valid_from) as first_observed_at
  from reporting.node_validators_history h join viewer using (node)
  group by h.subnet_id
),
versions as (
  select h.valid_from, h.valid_to, h.ended_by, h.node_id, h.tx_id, h.validation_id, h.start_time, h.end_time, h.stake_navax, h.weight, h.delegator_weight,
    lag(h.valid_to) over member as before_until, lag(h.ended_by) over member as before_ended_by,
    lag(h.weight) over member as weight_before, lag(h.delegator_weight) over member as delegated_before,
    h.valid_from > l.first_observed_at or h.start_time > (select min(first_observed_at) from first_lists) as is_new
  from reporting.node_validators_history h join viewer using (node) join first_lists l using (subnet_id)
  where h.subnet_id = validator_movements.subnet_id and h.valid_from <= as_of
  window member as (partition by h.node_id, h.start_time, h.tx_id, h.validation_id order by h.valid_from)
),
changes as (
  select v.valid_from, v.node_id, v.tx_id, v.validation_id, v.start_time, v.end_time, v.stake_navax, v.weight, v.delegator_weight,
    first_value(v.weight_before) over day as weight_before, first_value(v.delegated_before) over day as delegated_before,
    lead(v.valid_from) over day is null as is_last
  from versions v cross join kept k
  where v.before_until = v.valid_from and v.valid_from >= k.since and v.valid_from < "to"
    and (v.weight, v.delegator_weight) is distinct from (v.weight_before, v.delegated_before)
  window day as (
    partition by v.node_id, v.start_time, v.tx_id, v.validation_id, (v.valid_from at time zone 'UTC')::date order by v.valid_from)
),
movements as materialized (
  select v.valid_from as at, 'joined' as change, v.node_id, v.tx_id, v.validation_id, v.start_time, v.end_time,
    null::boolean as expired, v.stake_navax, v.weight, v.delegator_weight, null::numeric as weight_before, null::numeric as delegated_before
  from versions v cross join kept k
  -- A validator in the first observation joined earlier. A validator that was not watched for some time did not leave.
  where v.is_new and v.valid_from >= k.since and v.valid_from < "to"
    and (v.before_until is null or v.before_until < v.valid_from and v.before_ended_by = 'gone')
  union all
  select v.valid_to, 'left', v.node_id, v.tx_id, v.validation_id, v.start_time, v.end_time, v.end_time <= v.valid_to,
    v.stake_navax, v.weight, v.delegator_weight, null, null
  from versions v cross join kept k
  where v.ended_by = 'gone' and v.valid_to <= as_of and v.valid_to >= k.since and v.valid_to < "to"
  union all
  select c.valid_from, 'changed', c.node_id, c.tx_id, c.validation_id, c.start_time, c.end_time, null,
    c.stake_navax, c.weight, c.delegator_weight, c.weight_before, c.delegated_before
  from changes c
  -- A day whose changes cancel each other has no row.
  where c.is_last and (c.weight, c.delegator_weight) is distinct from (c.weight_before, c.delegated_before)
)
select * from movements
where reporting_internal.has_record('validators', as_of)
order by 1, 2, 3, 4
$$;

comment on function reporting.validator_movements is 'Validators that joined, changed or left a subnet between two dates, by the time of the observation.';
