-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
select md5('p_blockchains ' || length(node) || ':' || node || length(blockchain_id) || ':' || blockchain_id || epoch_us(valid_from) || ',')::uuid as version_id, node, blockchain_id, name, subnet_id, vm_id, status, alias, is_bootstrapped, extra, valid_from, valid_to, ended_by, run_id
from {{ source('lake', 'p_blockchains') }}
qualify row_number() over (partition by node, blockchain_id, valid_from order by exported_at desc) = 1
