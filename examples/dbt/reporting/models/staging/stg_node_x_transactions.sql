-- Made by "npm run docs".
select node, tx_id, status, block_height, block_id, block_time, unsigned_tx_network_id, unsigned_tx_blockchain_id, unsigned_tx_outputs, unsigned_tx_inputs, unsigned_tx_memo, unsigned_tx_destination_chain, unsigned_tx_exported_outputs, unsigned_tx_source_chain, unsigned_tx_imported_inputs, unsigned_tx_name, unsigned_tx_symbol, unsigned_tx_denomination, unsigned_tx_initial_states, unsigned_tx_operations, credentials, bytes, extra, version_id, valid_from, run_id, valid_to, ended_by, differs
from {{ source('reporting', 'node_x_transactions_history') }}
