-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as uptime_exact) absent, lateral (
select md5('validator_uptime ' || length(node) || ':' || node || length(subnet_id) || ':' || subnet_id || length(node_id) || ':' || node_id || epoch_us(observed_at) || ',')::uuid as version_id, node, subnet_id, node_id, uptime, connected, extra, observed_at, run_id, uptime_exact
from {{ source('lake', 'validator_uptime') }}
qualify row_number() over (partition by node, subnet_id, node_id, observed_at order by exported_at desc) = 1
) versions
