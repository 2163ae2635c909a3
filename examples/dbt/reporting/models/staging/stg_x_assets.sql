-- Made by "npm run docs".
select node, asset_id, name, symbol, denomination, extra, version_id, valid_from, run_id, valid_to, ended_by
from {{ source('reporting', 'x_assets_history') }}
