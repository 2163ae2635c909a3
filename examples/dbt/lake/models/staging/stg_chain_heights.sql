-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select node, chain, height, extra, observed_at, run_id
from {{ source('lake', 'chain_heights') }}
qualify row_number() over (partition by node, chain, observed_at order by exported_at desc) = 1
