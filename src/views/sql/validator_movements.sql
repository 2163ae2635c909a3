create or replace function reporting.validator_movements(
  "from" timestamptz, -- The first moment.
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
  start_time timestamptz, -- When its validation began.
  end_time timestamptz, -- When it ends; null: it has no end.
  expired boolean, -- It left at its end or later; null: it joined, or has no end.
  weight numeric, -- Its stake in nAVAX on the primary network, else its weight.
  delegated numeric -- What others had delegated to it, in nAVAX.
)
language sql stable parallel safe as $$
with movements as materialized (
  select c.at, c.change, c.node_id, c.tx_id, c.validation_id, c.start_time, coalesce(c.after, c.before) as member
  from reporting.validators_changes c
  where c.change in ('joined', 'left') and not c.first_look and c.subnet_id = validator_movements.subnet_id
    and c.node = coalesce(seen_by, reporting.validator_viewer(validator_movements.subnet_id, as_of))
    and c.at >= "from" and c.at < "to" and c.at <= as_of
)
select m.at, m.change, m.node_id, m.tx_id, m.validation_id, m.start_time, e.end_time,
  case m.change when 'left' then e.end_time <= m.at end,
  (m.member ->> 'weight')::numeric, (m.member ->> 'delegator_weight')::numeric
from movements m
cross join lateral (select (m.member ->> 'end_time')::timestamptz as end_time) e
where reporting.has_record('validators', as_of)
order by 1, 2, 3, 4
$$;

comment on function reporting.validator_movements is 'Validators that joined and left a subnet between two dates, when it was seen.';
