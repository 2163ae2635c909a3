-- Made by "npm run docs".
select genesis_hash, genesis_data, extra, version_id, valid_from, run_id, valid_to, ended_by, differs
from {{ source('reporting', 'genesis_data_history') }}
