-- Made by "npm run docs".
select node, subnet_id, supply, height, extra, observed_at, run_id
from {{ source('reporting', 'current_supply') }}
