-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
select md5('peers ' || length(node) || ':' || node || length(node_id) || ':' || node_id || epoch_us(valid_from) || ',')::uuid as version_id, node, node_id, ip, public_ip, version, upgrade_time, tracked_subnets, supported_acps, objected_acps, benched, extra, valid_from, valid_to, ended_by, run_id
from {{ source('lake', 'peers') }}
qualify row_number() over (partition by node, node_id, valid_from order by exported_at desc) = 1
