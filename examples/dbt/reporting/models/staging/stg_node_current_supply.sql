-- Made by "npm run docs".
select node, subnet_id, supply, height, extra, version_id, observed_at, run_id
from {{ source('reporting', 'node_current_supply') }}
