-- Made by "npm run docs".
select node, address, asset_id, balance, unlocked, locked_stakeable, locked_not_stakeable, utxo_ids, extra, version_id, valid_from, run_id, valid_to, ended_by
from {{ source('reporting', 'p_balances_history') }}
