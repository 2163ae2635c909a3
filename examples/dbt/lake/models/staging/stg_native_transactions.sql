-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select chain_id, address, tx_hash, tx_status, tx_type, block_number, block_timestamp, block_timestamp_milliseconds, block_min_delay_excess, block_hash, block_index, from_address, from_name, from_symbol, from_decimals, from_logo_uri, to_address, to_name, to_symbol, to_decimals, to_logo_uri, method_call_type, method_hash, method_name, value, gas_limit, gas_used, gas_price, nonce, extra, recorded_at, superseded_at, run_id
from {{ source('lake', 'native_transactions') }}
qualify row_number() over (partition by chain_id, address, tx_hash, recorded_at order by exported_at desc) = 1
