-- Made by "npm run docs".
select node, subnet_id, node_id, tx_id, start_time, end_time, weight, stake_navax, reward_owner_locktime, reward_owner_locktime_raw, reward_owner_threshold, reward_owner_addresses, potential_reward, extra, version_id, valid_from, run_id, valid_to, ended_by
from {{ source('reporting', 'node_validator_delegators_history') }}
