-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
select md5('x_assets ' || length(node) || ':' || node || length(asset_id) || ':' || asset_id || epoch_us(valid_from) || ',')::uuid as version_id, node, asset_id, name, symbol, denomination, extra, valid_from, valid_to, ended_by, run_id
from {{ source('lake', 'x_assets') }}
qualify row_number() over (partition by node, asset_id, valid_from order by exported_at desc) = 1
