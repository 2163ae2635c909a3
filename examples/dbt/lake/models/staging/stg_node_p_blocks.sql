-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as height_exact) absent, lateral (
select md5('p_blocks ' || length(node) || ':' || node || height || ',' || epoch_us(valid_from) || ',')::uuid as version_id, node, height, id, parent_id, time, txs, tx, bytes, extra, valid_from, valid_to, run_id, height_exact
from {{ source('lake', 'p_blocks') }}
qualify row_number() over (partition by node, height, valid_from order by exported_at desc) = 1
) versions
