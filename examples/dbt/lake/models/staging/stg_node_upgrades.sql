-- Made by "npm run docs".
-- A version can be in several files: the newest row counts.
-- A number that fits no DECIMAL is null, and has its digits in NAME_exact. Where no file has that column, it is null.
select versions.*
from (select cast(null as varchar) as apricot_phase4_min_p_chain_height_exact, cast(null as varchar) as granite_epoch_duration_exact) absent, lateral (
select md5('upgrades ' || length(node) || ':' || node || epoch_us(valid_from) || ',')::uuid as version_id, node, apricot_phase1_time, apricot_phase2_time, apricot_phase3_time, apricot_phase4_time, apricot_phase4_min_p_chain_height, apricot_phase5_time, apricot_phase_pre6_time, apricot_phase6_time, apricot_phase_post6_time, banff_time, cortina_time, cortina_x_chain_stop_vertex_id, durango_time, etna_time, fortuna_time, granite_time, granite_epoch_duration, helicon_time, extra, valid_from, valid_to, ended_by, run_id, apricot_phase4_min_p_chain_height_exact, granite_epoch_duration_exact
from {{ source('lake', 'upgrades') }}
qualify row_number() over (partition by node, valid_from order by exported_at desc) = 1
) versions
