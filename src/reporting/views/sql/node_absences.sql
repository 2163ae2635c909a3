create or replace view reporting.node_absences as
select a.observer, a.started_at, a.ended_at, a.reason
from recorder.health_absences a;

comment on view reporting.node_absences is 'When an observer did not look at all: that time is unknown for all its nodes.';
comment on column reporting.node_absences.observer is 'The recorder that looked, by its configured name.'; -- text
comment on column reporting.node_absences.started_at is 'The last moment it watched.'; -- timestamptz
comment on column reporting.node_absences.ended_at is 'When it had looked again at every node whose turn had come.'; -- timestamptz
comment on column reporting.node_absences.reason is 'Why.'; -- text
