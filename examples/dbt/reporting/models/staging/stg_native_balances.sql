-- Made by "npm run docs".
select chain_id, address, balance, name, symbol, decimals, logo_uri, extra, version_id, valid_from, run_id, valid_to, ended_by
from {{ source('reporting', 'native_balances_history') }}
