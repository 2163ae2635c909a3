create or replace function reporting.income(
  "from" timestamptz, -- The first moment. What is not kept any more (reporting.retention) is left out.
  "to" timestamptz, -- The end, itself not in it.
  by text default 'day', -- day, month or year (UTC).
  currency text default 'usd', -- Of the value.
  as_of timestamptz default now() -- As the recorder knew it then.
)
returns table (
  period date, -- The first day of the day, month or year.
  addresses text, -- Who got it.
  rewards bigint, -- How many rewards.
  amount numeric, -- In the smallest unit.
  tokens numeric, -- The same in tokens.
  symbol text, -- The token.
  value numeric, -- Each reward at the price recorded when it was due; of those with a price.
  currency text, -- The currency of the value.
  without_price bigint -- Rewards for whose time no price was recorded: the value lacks them.
)
language sql stable parallel safe as $$
select date_trunc(by, p.paid_at at time zone 'UTC')::date,
  p.addresses, count(*), sum(p.amount), sum(p.tokens), p.symbol, sum(p.value), lower(income.currency),
  count(*) filter (where p.price is null)
from reporting.rewards_paid("from", "to", income.currency, as_of) p
where case when by in ('day', 'month', 'year') then true
  else reporting.refused('by: must be day, month or year, not ' || by) is null end
group by 1, p.addresses, p.symbol
order by 1, 2, p.symbol
$$;

comment on function reporting.income is 'Income from staking by day, month or year: in base units, in tokens, and in a currency at the recorded price.';
