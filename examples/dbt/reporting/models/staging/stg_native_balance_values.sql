-- Made by "npm run docs".
select chain_id, address, currency_code, price, balance_value_currency_code, balance_value, version_id, observed_at, run_id
from {{ source('reporting', 'native_balance_values') }}
