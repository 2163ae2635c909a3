-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as block_height_exact, cast(null as varchar) as unsigned_tx_network_id_exact, cast(null as varchar) as unsigned_tx_denomination_exact) absent, lateral (
select md5('x_transactions ' || length(node) || ':' || node || length(tx_id) || ':' || tx_id || epoch_us(valid_from) || ',')::uuid as version_id, node, tx_id, status, block_height, block_id, block_time, unsigned_tx_network_id, unsigned_tx_blockchain_id, unsigned_tx_outputs, unsigned_tx_inputs, unsigned_tx_memo, unsigned_tx_destination_chain, unsigned_tx_exported_outputs, unsigned_tx_source_chain, unsigned_tx_imported_inputs, unsigned_tx_name, unsigned_tx_symbol, unsigned_tx_denomination, unsigned_tx_initial_states, unsigned_tx_operations, credentials, bytes, extra, valid_from, valid_to, run_id, block_height_exact, unsigned_tx_network_id_exact, unsigned_tx_denomination_exact
from {{ source('lake', 'x_transactions') }}
qualify row_number() over (partition by node, tx_id, valid_from order by exported_at desc) = 1
) versions
