create or replace view reporting_internal.node_quorum_states as
select s.node, s.probe, s.state, s.disagreement, s.observers_up, s.observers_down, s.started_at, s.ended_at
from reporting_internal.node_quorum_states_in('-infinity', 'infinity') s;

comment on view reporting_internal.node_quorum_states is 'The combined states of the observers of a probe: down while most of the observers that probed observed the probe as down. The last interval ends at the time up to which all current observers have settled. An observer that stopped, or lags by more than 1 minute, is not counted from then on.';
comment on column reporting_internal.node_quorum_states.node is 'The configured node.'; -- text
comment on column reporting_internal.node_quorum_states.probe is 'The probe.'; -- text
comment on column reporting_internal.node_quorum_states.state is 'up, down or maintenance. With equally many observers for up and down, the state is up. Time outside of all intervals is unknown.'; -- text
comment on column reporting_internal.node_quorum_states.disagreement is 'True if some observers observed the probe as up and others as down.'; -- boolean
comment on column reporting_internal.node_quorum_states.observers_up is 'Number of observers that observed the probe as up.'; -- numeric
comment on column reporting_internal.node_quorum_states.observers_down is 'Number of observers that observed the probe as down.'; -- numeric
comment on column reporting_internal.node_quorum_states.started_at is 'Start of the interval.'; -- timestamptz
comment on column reporting_internal.node_quorum_states.ended_at is 'End of the interval.'; -- timestamptz
