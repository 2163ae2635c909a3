-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as p_chain_height_exact) absent, lateral (
select md5('aggregated_signatures ' || length(network) || ':' || network || length(request) || ':' || request || epoch_us(valid_from) || ',')::uuid as version_id, network, request, signed_message, tx_hash, message, justification, signing_subnet_id, quorum_percentage, quorum_percentage_buffer, p_chain_height, extra, valid_from, valid_to, run_id, p_chain_height_exact
from {{ source('lake', 'aggregated_signatures') }}
qualify row_number() over (partition by network, request, valid_from order by exported_at desc) = 1
) versions
