-- Made by "npm run docs".
select network, request, signed_message, tx_hash, message, justification, signing_subnet_id, quorum_percentage, quorum_percentage_buffer, p_chain_height, extra, recorded_at, run_id
from {{ source('reporting', 'aggregated_signatures') }}
