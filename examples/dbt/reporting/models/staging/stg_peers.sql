-- Made by "npm run docs".
select node, node_id, ip, public_ip, version, upgrade_time, tracked_subnets, supported_acps, objected_acps, benched, extra, version_id, valid_from, run_id, valid_to, ended_by
from {{ source('reporting', 'peers_history') }}
