create or replace view reporting_internal.node_quorum_states as
select s.node, s.probe, s.state, s.disagreement, s.observers_up, s.observers_down, s.started_at, s.ended_at
from reporting_internal.node_quorum_states_in('-infinity', 'infinity') s;

comment on view reporting_internal.node_quorum_states is 'What the observers of a probe said together: down while a majority of those who looked saw it down. It reaches as far as all that watch have settled; one that stopped, or trails by more than 1 minute, did not look from then on.';
comment on column reporting_internal.node_quorum_states.node is 'The configured node.'; -- text
comment on column reporting_internal.node_quorum_states.probe is 'The probe.'; -- text
comment on column reporting_internal.node_quorum_states.state is 'up, down or maintenance; as many up as down counts as up. Time that is in none of the parts is unknown.'; -- text
comment on column reporting_internal.node_quorum_states.disagreement is 'Some saw it up, others down.'; -- boolean
comment on column reporting_internal.node_quorum_states.observers_up is 'How many saw it up.'; -- numeric
comment on column reporting_internal.node_quorum_states.observers_down is 'How many saw it down.'; -- numeric
comment on column reporting_internal.node_quorum_states.started_at is 'The first moment.'; -- timestamptz
comment on column reporting_internal.node_quorum_states.ended_at is 'The end.'; -- timestamptz
