-- Made by "npm run docs".
select node, proposal, support_weight, supporters, object_weight, objectors, abstain_weight, extra, version_id, valid_from, run_id, valid_to, ended_by
from {{ source('reporting', 'node_proposals_history') }}
