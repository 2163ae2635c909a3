-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as progress_exact) absent, lateral (
select md5('pending_reward_progress ' || length(network) || ':' || network || length(tx_hash) || ':' || tx_hash || length(reward_type) || ':' || reward_type || epoch_us(observed_at) || ',')::uuid as version_id, network, tx_hash, reward_type, progress, extra, observed_at, run_id, progress_exact
from {{ source('lake', 'pending_reward_progress') }}
qualify row_number() over (partition by network, tx_hash, reward_type, observed_at order by exported_at desc) = 1
) versions
