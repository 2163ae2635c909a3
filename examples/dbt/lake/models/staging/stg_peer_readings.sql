-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select node, node_id, subnet_id, last_sent, last_received, observed_uptime, extra, observed_at, run_id
from {{ source('lake', 'peer_readings') }}
qualify row_number() over (partition by node, node_id, subnet_id, observed_at order by exported_at desc) = 1
