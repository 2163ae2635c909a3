-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
select observer, node, probe, check_name, state, error, message, extra, started_at, ended_at, reported, probes_before, probes, failing_since, failures, last_error, last_message
from {{ source('lake', 'node_health') }}
qualify row_number() over (partition by observer, node, probe, check_name, started_at order by exported_at desc) = 1
