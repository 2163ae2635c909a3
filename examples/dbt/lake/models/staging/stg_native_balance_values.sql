-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as price_exact, cast(null as varchar) as balance_value_exact) absent, lateral (
select md5('native_balance_values ' || length(chain_id) || ':' || chain_id || length(address) || ':' || address || epoch_us(observed_at) || ',')::uuid as version_id, chain_id, address, currency_code, price, balance_value_currency_code, balance_value, extra, observed_at, run_id, price_exact, balance_value_exact
from {{ source('lake', 'native_balance_values') }}
qualify row_number() over (partition by chain_id, address, observed_at order by exported_at desc) = 1
) versions
