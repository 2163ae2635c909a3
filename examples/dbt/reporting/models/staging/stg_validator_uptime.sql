-- Made by "npm run docs".
select node, subnet_id, node_id, uptime, connected, version_id, observed_at, run_id
from {{ source('reporting', 'validator_uptime') }}
