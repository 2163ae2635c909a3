-- Made by "npm run docs".
select chain_id, address, tx_hash, tx_status, tx_type, block_number, block_timestamp, block_timestamp_milliseconds, block_min_delay_excess, block_hash, block_index, from_address, from_name, from_symbol, from_decimals, from_logo_uri, to_address, to_name, to_symbol, to_decimals, to_logo_uri, method_call_type, method_hash, method_name, value, gas_limit, gas_used, gas_price, nonce, extra, version_id, valid_from, run_id, valid_to, ended_by, differs
from {{ source('reporting', 'native_transactions_history') }}
