-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select node, subnet_id, node_id, tx_id, start_time, end_time, weight, stake_navax, reward_owner_locktime, reward_owner_locktime_raw, reward_owner_threshold, reward_owner_addresses, potential_reward, extra, valid_from, valid_to, ended_by, run_id
from {{ source('lake', 'validator_delegators') }}
qualify row_number() over (partition by node, subnet_id, node_id, start_time, tx_id, valid_from order by exported_at desc) = 1
