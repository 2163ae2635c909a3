-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select node, proposal, support_weight, supporters, object_weight, objectors, abstain_weight, extra, valid_from, valid_to, ended_by, run_id
from {{ source('lake', 'network_proposals') }}
qualify row_number() over (partition by node, proposal, valid_from order by exported_at desc) = 1
