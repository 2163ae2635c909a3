-- Made by "npm run docs".
select node, subnet_id, rewarding_stake_percentage, weighted_average_percentage, extra, version_id, observed_at, run_id
from {{ source('reporting', 'node_reported_uptime') }}
