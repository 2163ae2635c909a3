-- Made by "npm run docs".
select network, blockchain_id, addresses, balance_group, asset_id, shared_with_chain_id, name, symbol, denomination, type, amount, utxo_count, status, extra, version_id, valid_from, run_id, valid_to, ended_by
from {{ source('reporting', 'primary_balances_history') }}
