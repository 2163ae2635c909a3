-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
select md5('node_health ' || length(observer) || ':' || observer || length(node) || ':' || node || length(probe) || ':' || probe || length(check_name) || ':' || check_name || epoch_us(started_at) || ',')::uuid as version_id, observer, node, probe, check_name, state, error, message, extra, started_at, ended_at, reported, probes_before, probes, failing_since, failures, last_error, last_message
from {{ source('lake', 'node_health') }}
qualify row_number() over (partition by observer, node, probe, check_name, started_at order by exported_at desc) = 1
