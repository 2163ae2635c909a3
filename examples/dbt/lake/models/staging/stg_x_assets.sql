-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
select node, asset_id, name, symbol, denomination, extra, valid_from, valid_to, ended_by, run_id
from {{ source('lake', 'x_assets') }}
qualify row_number() over (partition by node, asset_id, valid_from order by exported_at desc) = 1
