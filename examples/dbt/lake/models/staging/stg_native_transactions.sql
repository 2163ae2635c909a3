-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as block_number_exact, cast(null as varchar) as block_min_delay_excess_exact, cast(null as varchar) as gas_limit_exact, cast(null as varchar) as gas_used_exact, cast(null as varchar) as gas_price_exact, cast(null as varchar) as nonce_exact) absent, lateral (
select md5('native_transactions ' || length(chain_id) || ':' || chain_id || length(address) || ':' || address || length(tx_hash) || ':' || tx_hash || epoch_us(valid_from) || ',')::uuid as version_id, chain_id, address, tx_hash, tx_status, tx_type, block_number, block_timestamp, block_timestamp_milliseconds, block_min_delay_excess, block_hash, block_index, from_address, from_name, from_symbol, from_decimals, from_logo_uri, to_address, to_name, to_symbol, to_decimals, to_logo_uri, method_call_type, method_hash, method_name, value, gas_limit, gas_used, gas_price, nonce, extra, valid_from, valid_to, run_id, block_number_exact, block_min_delay_excess_exact, gas_limit_exact, gas_used_exact, gas_price_exact, nonce_exact
from {{ source('lake', 'native_transactions') }}
qualify row_number() over (partition by chain_id, address, tx_hash, valid_from order by exported_at desc) = 1
) versions
