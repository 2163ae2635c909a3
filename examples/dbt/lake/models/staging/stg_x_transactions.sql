-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select node, tx_id, status, block_height, block_id, block_time, unsigned_tx_network_id, unsigned_tx_blockchain_id, unsigned_tx_outputs, unsigned_tx_inputs, unsigned_tx_memo, unsigned_tx_destination_chain, unsigned_tx_exported_outputs, unsigned_tx_source_chain, unsigned_tx_imported_inputs, unsigned_tx_name, unsigned_tx_symbol, unsigned_tx_denomination, unsigned_tx_initial_states, unsigned_tx_operations, credentials, bytes, extra, recorded_at, superseded_at, run_id
from {{ source('lake', 'x_transactions') }}
qualify row_number() over (partition by node, tx_id, recorded_at order by exported_at desc) = 1
