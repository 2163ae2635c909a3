create or replace view reporting_internal.node_absences as
select a.observer, a.started_at, a.ended_at, a.reason
from recorder.health_absences a;

comment on view reporting_internal.node_absences is 'Periods in which an observer did not probe. This time is unknown for all of its nodes.';
comment on column reporting_internal.node_absences.observer is 'The observer: the configured name of its recorder.'; -- text
comment on column reporting_internal.node_absences.started_at is 'The last moment at which the observer watched.'; -- timestamptz
comment on column reporting_internal.node_absences.ended_at is 'Time at which the observer had probed every overdue node again.'; -- timestamptz
comment on column reporting_internal.node_absences.reason is 'Reason of the absence.'; -- text
