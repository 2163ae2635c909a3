-- Made by "npm run docs".
select network, request, signed_message, tx_hash, message, justification, signing_subnet_id, quorum_percentage, quorum_percentage_buffer, p_chain_height, extra, version_id, valid_from, run_id, valid_to, ended_by, differs
from {{ source('reporting', 'aggregated_signatures_history') }}
