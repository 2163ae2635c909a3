-- Made by "npm run docs".
-- Of a version that stands in several files the newest row counts.
select network, tx_hash, reward_type, progress, extra, observed_at, run_id
from {{ source('lake', 'pending_reward_progress') }}
qualify row_number() over (partition by network, tx_hash, reward_type, observed_at order by exported_at desc) = 1
