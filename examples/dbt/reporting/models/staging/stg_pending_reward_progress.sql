-- Made by "npm run docs".
select network, tx_hash, reward_type, progress, version_id, observed_at, run_id
from {{ source('reporting', 'pending_reward_progress') }}
