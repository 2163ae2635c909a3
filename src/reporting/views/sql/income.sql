create or replace function reporting.income(
  "from" timestamptz, -- Start of the window. Data that is no longer retained (reporting_internal.retention) is omitted.
  "to" timestamptz, -- End of the window, exclusive.
  by text default 'day', -- Length of the periods: day, month or year (UTC).
  currency text default 'usd', -- Currency of the value.
  as_of timestamptz default now() -- Returns the data as of this moment.
)
returns table (
  period date, -- First day of the day, month or year of the receipt, or of the due date if the income is not received yet.
  addresses text, -- The recipients.
  state text, -- received, expected (not received yet), or not recorded (receipts of these addresses are not recorded; watch one of the addresses).
  rewards bigint, -- Number of rewards.
  amount numeric, -- Received amount in the smallest unit. Null: nothing was received, or receipts are not recorded.
  tokens numeric, -- The same amount in tokens.
  symbol text, -- The token.
  value numeric, -- Value of the receipts, each at the price recorded at its time. Receipts without a price are not included.
  currency text, -- Currency of the value.
  without_price bigint, -- Number of receipts without a recorded price, which the value does not include.
  expected numeric, -- Estimated amount of expected rewards in the smallest unit. Not included in amount.
  expected_tokens numeric -- The same amount in tokens.
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

comment on function reporting.income is 'Income from staking by day, month or year: amounts of reward transactions in base units, in tokens, and in a currency at the recorded price. Separate rows contain expected income and income whose receipts are not recorded.';
