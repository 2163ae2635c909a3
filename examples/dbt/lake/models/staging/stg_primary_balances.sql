-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as amount_exact) absent, lateral (
select md5('primary_balances ' || length(network) || ':' || network || length(blockchain_id) || ':' || blockchain_id || length(addresses) || ':' || addresses || length(balance_group) || ':' || balance_group || length(asset_id) || ':' || asset_id || length(coalesce(shared_with_chain_id, '')) || ':' || coalesce(shared_with_chain_id, '') || epoch_us(valid_from) || ',')::uuid as version_id, network, blockchain_id, addresses, balance_group, asset_id, shared_with_chain_id, name, symbol, denomination, type, amount, utxo_count, status, extra, valid_from, valid_to, ended_by, run_id, amount_exact
from {{ source('lake', 'primary_balances') }}
qualify row_number() over (partition by network, blockchain_id, addresses, balance_group, asset_id, shared_with_chain_id, valid_from order by exported_at desc) = 1
) versions
