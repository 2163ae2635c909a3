-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as support_weight_exact, cast(null as varchar) as object_weight_exact, cast(null as varchar) as abstain_weight_exact) absent, lateral (
select md5('proposals ' || length(node) || ':' || node || proposal || ',' || epoch_us(valid_from) || ',')::uuid as version_id, node, proposal, support_weight, supporters, object_weight, objectors, abstain_weight, extra, valid_from, valid_to, ended_by, run_id, support_weight_exact, object_weight_exact, abstain_weight_exact
from {{ source('lake', 'proposals') }}
qualify row_number() over (partition by node, proposal, valid_from order by exported_at desc) = 1
) versions
