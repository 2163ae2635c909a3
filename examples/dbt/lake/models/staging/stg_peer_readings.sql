-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as observed_uptime_exact) absent, lateral (
select md5('peer_readings ' || length(node) || ':' || node || length(node_id) || ':' || node_id || length(subnet_id) || ':' || subnet_id || epoch_us(observed_at) || ',')::uuid as version_id, node, node_id, subnet_id, last_sent, last_received, observed_uptime, extra, observed_at, run_id, observed_uptime_exact
from {{ source('lake', 'peer_readings') }}
qualify row_number() over (partition by node, node_id, subnet_id, observed_at order by exported_at desc) = 1
) versions
