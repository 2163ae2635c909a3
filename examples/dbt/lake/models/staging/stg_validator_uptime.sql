-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select node, subnet_id, node_id, uptime, connected, extra, observed_at, run_id
from {{ source('lake', 'validator_uptime') }}
qualify row_number() over (partition by node, subnet_id, node_id, observed_at order by exported_at desc) = 1
