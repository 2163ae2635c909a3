-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select network, request, signed_message, tx_hash, message, justification, signing_subnet_id, quorum_percentage, quorum_percentage_buffer, p_chain_height, extra, recorded_at, superseded_at, run_id
from {{ source('lake', 'aggregated_signatures') }}
qualify row_number() over (partition by network, request, recorded_at order by exported_at desc) = 1
