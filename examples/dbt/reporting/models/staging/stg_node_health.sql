-- Made by "npm run docs".
select observer, node, probe, check_name, state, started_at, ended_at, is_open, probes, error, message, last_error, last_message, failing_since, failures, version_id
from {{ source('reporting', 'node_health_history') }}
