create or replace view reporting.metric_rules as
with distinct_counts(metric, over_time) as (
  values ('activeAddresses', null), ('activeSenders', null), ('deployers', null),
    ('cumulativeAddresses', 'last'), ('cumulativeDeployers', 'last')
),
rules(metric, unit, over_time, over_chains, reason) as (
  select metric, 'addresses', over_time, null,
    'counts distinct addresses, some of which also occur in another '
      || case when over_time is null then 'hour, day or chain' else 'chain' end
      || ': a sum would count them twice. Request one longer interval, or the chain total, which the service counts itself'
  from distinct_counts
  union all
  values
    ('txCount', 'transactions', 'sum', 'sum', null),
    ('gasUsed', 'gas', 'sum', 'sum', null),
    ('contracts', 'contracts', 'sum', 'sum', null),
    ('cumulativeTxCount', 'transactions', 'last', 'sum', null),
    ('cumulativeContracts', 'contracts', 'last', 'sum', null),
    ('feesPaid', 'tokens', 'sum', null, 'is in the token of each chain: amounts of different tokens cannot be added'),
    ('avgTps', 'transactions a second', null, 'sum', 'is a daily average: averages cannot be added over time. Use txCount'),
    ('avgGps', 'gas a second', null, 'sum', 'is a daily average: averages cannot be added over time. Use gasUsed'),
    ('maxTps', 'transactions a second', 'max', 'max', null),
    ('maxGps', 'gas a second', 'max', 'max', null),
    ('avgGasPrice', 'nano-tokens a gas', null, null, 'is a daily average in the token of the chain: averages cannot be added. Use feesPaid and gasUsed'),
    ('maxGasPrice', 'nano-tokens a gas', 'max', null, 'is in the token of each chain: prices in different tokens cannot be compared')
)
select metric, unit, over_time, over_chains, reason from rules;

comment on view reporting.metric_rules is 'Rules for aggregating the values of each metric over time and over chains, or the reasons why they cannot be aggregated.';
comment on column reporting.metric_rules.metric is 'The metric.'; -- text
comment on column reporting.metric_rules.unit is 'Unit of the metric.'; -- text
comment on column reporting.metric_rules.over_time is 'sum, max or last (the latest value represents the whole). Null: hours or days cannot be aggregated.'; -- text
comment on column reporting.metric_rules.over_chains is 'sum or max. Null: chains cannot be aggregated.'; -- text
comment on column reporting.metric_rules.reason is 'Reason why values cannot be aggregated, and an alternative.'; -- text
