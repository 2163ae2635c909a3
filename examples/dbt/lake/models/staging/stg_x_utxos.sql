-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as amount_exact, cast(null as varchar) as locktime_raw_exact) absent, lateral (
select md5('x_utxos ' || length(node) || ':' || node || length(address) || ':' || address || length(utxo_id) || ':' || utxo_id || epoch_us(valid_from) || ',')::uuid as version_id, node, address, utxo_id, source_chain, tx_id, output_index, asset_id, output_type, amount, locktime, locktime_raw, threshold, addresses, utxo, extra, valid_from, valid_to, ended_by, run_id, amount_exact, locktime_raw_exact
from {{ source('lake', 'x_utxos') }}
qualify row_number() over (partition by node, address, utxo_id, valid_from order by exported_at desc) = 1
) versions
