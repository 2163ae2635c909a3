-- Made by "npm run docs".
select node, address, asset_id, asset, balance, utxo_ids, extra, version_id, valid_from, run_id, valid_to, ended_by
from {{ source('reporting', 'x_balances_history') }}
