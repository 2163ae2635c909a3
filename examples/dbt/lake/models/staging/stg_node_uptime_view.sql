-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select node, subnet_id, rewarding_stake_percentage, weighted_average_percentage, extra, observed_at, run_id
from {{ source('lake', 'node_uptime_view') }}
qualify row_number() over (partition by node, subnet_id, observed_at order by exported_at desc) = 1
