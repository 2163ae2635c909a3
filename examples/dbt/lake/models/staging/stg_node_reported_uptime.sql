-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as rewarding_stake_percentage_exact, cast(null as varchar) as weighted_average_percentage_exact) absent, lateral (
select md5('node_reported_uptime ' || length(node) || ':' || node || length(subnet_id) || ':' || subnet_id || epoch_us(observed_at) || ',')::uuid as version_id, node, subnet_id, rewarding_stake_percentage, weighted_average_percentage, extra, observed_at, run_id, rewarding_stake_percentage_exact, weighted_average_percentage_exact
from {{ source('lake', 'node_reported_uptime') }}
qualify row_number() over (partition by node, subnet_id, observed_at order by exported_at desc) = 1
) versions
