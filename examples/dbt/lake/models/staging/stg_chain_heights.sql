-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as height_exact) absent, lateral (
select md5('chain_heights ' || length(node) || ':' || node || length(chain) || ':' || chain || epoch_us(observed_at) || ',')::uuid as version_id, node, chain, height, extra, observed_at, run_id, height_exact
from {{ source('lake', 'chain_heights') }}
qualify row_number() over (partition by node, chain, observed_at order by exported_at desc) = 1
) versions
