create or replace function reporting.validator_movements(
  "from" timestamptz, -- The first moment. What is not kept any more (reporting.retention) is left out.
  "to" timestamptz, -- The end, itself not in it.
  subnet_id text default '11111111111111111111111111111111LpoYY', -- The subnet; the primary network unless said otherwise.
  seen_by text default null, -- The configured node that saw it; null: the one with the longest record.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  at timestamptz, -- When it was seen.
  change text, -- joined or left.
  node_id text, -- The validator.
  tx_id text, -- Its staking transaction; null: a validator of an L1.
  validation_id text, -- Its validation on an L1; null: it stakes.
  start_time timestamptz, -- When its validation started.
  end_time timestamptz, -- When it ends; null: it has no end.
  expired boolean, -- It left at its end or later; null: it joined, or has no end.
  stake_navax numeric, -- Its stake in nAVAX; null outside the primary network.
  weight numeric, -- Its weight in the unit of the subnet.
  delegated numeric -- What others had delegated to it, in nAVAX.
)
language sql stable parallel safe as $$
with kept as materialized (
  select reporting_internal.kept_from('validators', "from") as since
),
viewer as materialized (
  select coalesce(seen_by, reporting_internal.validator_viewer(validator_movements.subnet_id, as_of)) as node
),
looks as (
  select h.subnet_id, min(h.valid_from) as first_look
  from reporting.validators_history h join viewer using (node)
  group by h.subnet_id
),
versions as (
  select h.valid_from, h.valid_to, h.ended_by, h.node_id, h.tx_id, h.validation_id, h.start_time, h.end_time, h.stake_navax, h.weight, h.delegator_weight,
    lag(h.valid_to) over member as before_until, lag(h.ended_by) over member as before_ended_by,
    h.valid_from > l.first_look or h.start_time > (select min(first_look) from looks) as is_new
  from reporting.validators_history h join viewer using (node) join looks l using (subnet_id)
  where h.subnet_id = validator_movements.subnet_id and h.valid_from <= as_of
  window member as (partition by h.node_id, h.start_time, h.tx_id, h.validation_id order by h.valid_from)
),
movements as materialized (
  select v.valid_from as at, 'joined' as change, v.node_id, v.tx_id, v.validation_id, v.start_time, v.end_time,
    null::boolean as expired, v.stake_navax, v.weight, v.delegator_weight
  from versions v cross join kept k
  -- One that was there at the first look joined before; one that was not watched for a while never left.
  where v.is_new and v.valid_from >= k.since and v.valid_from < "to"
    and (v.before_until is null or v.before_until < v.valid_from and v.before_ended_by = 'gone')
  union all
  select v.valid_to, 'left', v.node_id, v.tx_id, v.validation_id, v.start_time, v.end_time, v.end_time <= v.valid_to,
    v.stake_navax, v.weight, v.delegator_weight
  from versions v cross join kept k
  where v.ended_by = 'gone' and v.valid_to <= as_of and v.valid_to >= k.since and v.valid_to < "to"
)
select * from movements
where reporting_internal.has_record('validators', as_of)
order by 1, 2, 3, 4
$$;

comment on function reporting.validator_movements is 'Validators that joined and left a subnet between two dates, when it was seen.';
