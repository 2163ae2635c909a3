-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as weight_exact, cast(null as varchar) as stake_navax_exact, cast(null as varchar) as reward_owner_locktime_raw_exact, cast(null as varchar) as reward_owner_threshold_exact, cast(null as varchar) as potential_reward_exact) absent, lateral (
select md5('validator_delegators ' || length(node) || ':' || node || length(subnet_id) || ':' || subnet_id || length(node_id) || ':' || node_id || epoch_us(start_time) || ',' || length(tx_id) || ':' || tx_id || epoch_us(valid_from) || ',')::uuid as version_id, node, subnet_id, node_id, tx_id, start_time, end_time, weight, stake_navax, reward_owner_locktime, reward_owner_locktime_raw, reward_owner_threshold, reward_owner_addresses, potential_reward, extra, valid_from, valid_to, ended_by, run_id, weight_exact, stake_navax_exact, reward_owner_locktime_raw_exact, reward_owner_threshold_exact, potential_reward_exact
from {{ source('lake', 'validator_delegators') }}
qualify row_number() over (partition by node, subnet_id, node_id, start_time, tx_id, valid_from order by exported_at desc) = 1
) versions
