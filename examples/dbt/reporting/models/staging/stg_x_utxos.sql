-- Made by "npm run docs".
select node, address, utxo_id, source_chain, tx_id, output_index, asset_id, output_type, amount, locktime, locktime_raw, threshold, addresses, utxo, extra, version_id, valid_from, run_id, valid_to, ended_by
from {{ source('reporting', 'x_utxos_history') }}
