create or replace function reporting.income(
  "from" timestamptz, -- The first moment. What is not kept any more (reporting.retention) is left out.
  "to" timestamptz, -- The end, itself not in it.
  by text default 'day', -- day, month or year (UTC).
  currency text default 'usd', -- Of the value.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  period date, -- The first day of the day, month or year: of the receipt, of what is not received of the day on which it is due.
  addresses text, -- Who got it, or is to get it.
  state text, -- received; expected: not received yet; not recorded: receipts of these addresses are not recorded, watch one of them.
  rewards bigint, -- How many rewards.
  amount numeric, -- What was received, in the smallest unit; null: nothing, or receipts are not recorded.
  tokens numeric, -- The same in tokens.
  symbol text, -- The token.
  value numeric, -- Each receipt at the price recorded then; of those with a price.
  currency text, -- The currency of the value.
  without_price bigint, -- Receipts for whose time no price was recorded: the value lacks them.
  expected numeric, -- What is estimated of rewards that are expected, in the smallest unit: no income.
  expected_tokens numeric -- The same in tokens.
)
language sql stable parallel safe as $$
with entries as (
  select r.received_at as at, r.addresses, case when r.is_recorded then 'received' else 'not recorded' end as state,
    case when r.is_recorded then r.amount end as amount, case when r.is_recorded then r.tokens end as tokens, r.symbol,
    case when r.is_recorded then r.value end as value, r.is_recorded and r.price is null as is_without_price,
    null::numeric as expected, null::numeric as expected_tokens
  from reporting.rewards_received("from", "to", income.currency, as_of) r
  union all
  select r.due_at, r.recipients, r.state, null, null, r.symbol, null, false, case r.state when 'expected' then r.estimate end,
    case r.state when 'expected' then r.estimate * ('1e-' || r.denomination)::numeric end
  from reporting.rewards_as_of(as_of) r
  where r.state in ('expected', 'not recorded') and r.due_at < "to"
    and r.due_at >= reporting_internal.kept_from('staking_transactions', reporting_internal.kept_from('pending_rewards', "from"))
)
select date_trunc(by, e.at at time zone 'UTC')::date, e.addresses, e.state, count(*), sum(e.amount), sum(e.tokens), e.symbol,
  sum(e.value), lower(income.currency), count(*) filter (where e.is_without_price), sum(e.expected), sum(e.expected_tokens)
from entries e
where case when by in ('day', 'month', 'year') then true
  else reporting_internal.refused('by: must be day, month or year, not ' || by) is null end
group by 1, e.addresses, e.state, e.symbol
order by 1, 2, 3, e.symbol
$$;

comment on function reporting.income is 'Income from staking by day, month or year: what reward transactions paid, in base units, in tokens, and in a currency at the recorded price; apart from it what is expected and not received yet, and whose receipts are not recorded.';
