-- Made by "npm run docs".
select node, node_id, subnet_id, last_sent, last_received, observed_uptime, version_id, observed_at, run_id
from {{ source('reporting', 'peer_readings') }}
