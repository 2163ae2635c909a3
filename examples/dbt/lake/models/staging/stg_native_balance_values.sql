-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select chain_id, address, currency_code, price, balance_value_currency_code, balance_value, extra, observed_at, run_id
from {{ source('lake', 'native_balance_values') }}
qualify row_number() over (partition by chain_id, address, observed_at order by exported_at desc) = 1
