-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select node, address, asset_id, balance, unlocked, locked_stakeable, locked_not_stakeable, utxo_ids, extra, valid_from, valid_to, ended_by, run_id
from {{ source('lake', 'p_balances') }}
qualify row_number() over (partition by node, address, asset_id, valid_from order by exported_at desc) = 1
