-- Made by "npm run docs".
select network, tx_hash, reward_type, node_id, addresses, amount_staked, start_timestamp, end_timestamp, estimated_reward_asset_id, estimated_reward_name, estimated_reward_symbol, estimated_reward_denomination, estimated_reward_type, estimated_reward_amount, extra, version_id, valid_from, run_id, valid_to, ended_by
from {{ source('reporting', 'pending_rewards_history') }}
