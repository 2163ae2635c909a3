-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select node, address, utxo_id, source_chain, tx_id, output_index, asset_id, output_type, amount, locktime, locktime_raw, threshold, addresses, utxo, extra, valid_from, valid_to, ended_by, run_id
from {{ source('lake', 'x_utxos') }}
qualify row_number() over (partition by node, address, utxo_id, valid_from order by exported_at desc) = 1
