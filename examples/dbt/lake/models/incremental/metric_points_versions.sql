{{ config(materialized='incremental', unique_key='version_id') }}
-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as value_exact) absent, lateral (
select md5('metric_points ' || length(chain_id) || ':' || chain_id || length(metric) || ':' || metric || length(time_interval) || ':' || time_interval || epoch_us(bucket_start) || ',' || epoch_us(valid_from) || ',')::uuid as version_id, chain_id, metric, time_interval, bucket_start, value, extra, valid_from, valid_to, vanished, run_id, value_exact, exported_at
from {{ source('lake', 'metric_points') }}
{% if is_incremental() %}
where exported_at > (select max(exported_at) from {{ this }}) or not exists (select 1 from {{ this }})
{% endif %}
qualify row_number() over (partition by chain_id, metric, time_interval, bucket_start, valid_from order by exported_at desc) = 1
) versions
