-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as value_exact) absent, lateral (
select md5('average_tps ' || length(chain_id) || ':' || chain_id || epoch_us(bucket_start) || ',' || epoch_us(valid_from) || ',')::uuid as version_id, chain_id, bucket_start, value, extra, valid_from, valid_to, vanished, run_id, value_exact
from {{ source('lake', 'average_tps') }}
qualify row_number() over (partition by chain_id, bucket_start, valid_from order by exported_at desc) = 1
) versions
