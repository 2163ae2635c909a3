-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as progress_exact) absent, lateral (
select network, tx_hash, reward_type, progress, extra, observed_at, run_id, progress_exact
from {{ source('lake', 'pending_reward_progress') }}
qualify row_number() over (partition by network, tx_hash, reward_type, observed_at order by exported_at desc) = 1
) versions
