-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as balance_exact) absent, lateral (
select md5('x_balances ' || length(node) || ':' || node || length(address) || ':' || address || length(asset_id) || ':' || asset_id || epoch_us(valid_from) || ',')::uuid as version_id, node, address, asset_id, asset, balance, utxo_ids, extra, valid_from, valid_to, ended_by, run_id, balance_exact
from {{ source('lake', 'x_balances') }}
qualify row_number() over (partition by node, address, asset_id, valid_from order by exported_at desc) = 1
) versions
