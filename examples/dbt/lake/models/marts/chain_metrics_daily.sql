-- The newest value of each metric, a row a chain and day (UTC); what was known earlier is in stg_metric_points. A point that the
-- service does not show any more is left out. A value that fits no DECIMAL is null, and has its digits in value_exact.
select chain_id, metric, cast(bucket_start at time zone 'UTC' as date) as day, value, value_exact, valid_from
from {{ ref('stg_metric_points') }}
where time_interval = 'day' and valid_to is null and not vanished
