-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as amount_staked_exact, cast(null as varchar) as estimated_reward_amount_exact) absent, lateral (
select md5('pending_rewards ' || length(network) || ':' || network || length(tx_hash) || ':' || tx_hash || length(reward_type) || ':' || reward_type || epoch_us(valid_from) || ',')::uuid as version_id, network, tx_hash, reward_type, node_id, addresses, amount_staked, start_timestamp, end_timestamp, estimated_reward_asset_id, estimated_reward_name, estimated_reward_symbol, estimated_reward_denomination, estimated_reward_type, estimated_reward_amount, extra, valid_from, valid_to, ended_by, run_id, amount_staked_exact, estimated_reward_amount_exact
from {{ source('lake', 'pending_rewards') }}
qualify row_number() over (partition by network, tx_hash, reward_type, valid_from order by exported_at desc) = 1
) versions
