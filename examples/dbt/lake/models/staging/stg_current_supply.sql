-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select node, subnet_id, supply, height, extra, observed_at, run_id
from {{ source('lake', 'current_supply') }}
qualify row_number() over (partition by node, subnet_id, observed_at order by exported_at desc) = 1
