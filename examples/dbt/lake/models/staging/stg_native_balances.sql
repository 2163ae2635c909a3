-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
select md5('native_balances ' || length(chain_id) || ':' || chain_id || length(address) || ':' || address || epoch_us(valid_from) || ',')::uuid as version_id, chain_id, address, balance, name, symbol, decimals, logo_uri, extra, valid_from, valid_to, ended_by, run_id
from {{ source('lake', 'native_balances') }}
qualify row_number() over (partition by chain_id, address, valid_from order by exported_at desc) = 1
