-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
select md5('genesis_data ' || length(genesis_hash) || ':' || genesis_hash || epoch_us(valid_from) || ',')::uuid as version_id, genesis_hash, genesis_data, extra, valid_from, valid_to, run_id
from {{ source('lake', 'genesis_data') }}
qualify row_number() over (partition by genesis_hash, valid_from order by exported_at desc) = 1
