-- Made by "npm run docs".
select node, chain, height, extra, version_id, observed_at, run_id
from {{ source('reporting', 'chain_heights') }}
