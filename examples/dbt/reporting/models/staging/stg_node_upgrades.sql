-- Made by "npm run docs".
select node, apricot_phase1_time, apricot_phase2_time, apricot_phase3_time, apricot_phase4_time, apricot_phase4_min_p_chain_height, apricot_phase5_time, apricot_phase_pre6_time, apricot_phase6_time, apricot_phase_post6_time, banff_time, cortina_time, cortina_x_chain_stop_vertex_id, durango_time, etna_time, fortuna_time, granite_time, granite_epoch_duration, helicon_time, extra, version_id, valid_from, run_id, valid_to, ended_by
from {{ source('reporting', 'node_upgrades_history') }}
