create or replace view reporting.node_incidents as
select i.node, i.probe, i.started_at, i.ended_at, i.is_open, i.duration_seconds, i.down_seconds, i.outages, i.first_error, i.last_error, i.noticed_by, i.first_noticed_by, i.failed_checks, i.failing_since, i.checks, i.unknown_seconds
from reporting.node_incidents_as_of('infinity') i;

comment on view reporting.node_incidents is 'When nodes were down, by all observers together. Being seen up for less than 5 minutes does not end an incident.';
comment on column reporting.node_incidents.node is 'The configured node.'; -- text
comment on column reporting.node_incidents.probe is 'The probe; with :TAG, of a part of the node only.'; -- text
comment on column reporting.node_incidents.started_at is 'The first failure.'; -- timestamptz
comment on column reporting.node_incidents.ended_at is 'When it was well again; null: it is not.'; -- timestamptz
comment on column reporting.node_incidents.is_open is 'It lasts.'; -- boolean
comment on column reporting.node_incidents.duration_seconds is 'From the first failure to the end, or to the last look.'; -- numeric
comment on column reporting.node_incidents.down_seconds is 'Seconds of it that it was seen down, by the observer who saw most; times without probes do not count.'; -- numeric
comment on column reporting.node_incidents.outages is 'How often it went down in that time.'; -- bigint
comment on column reporting.node_incidents.first_error is 'Why, at first.'; -- text
comment on column reporting.node_incidents.last_error is 'Why, at last.'; -- text
comment on column reporting.node_incidents.noticed_by is 'The observers that saw it down.'; -- text[]
comment on column reporting.node_incidents.first_noticed_by is 'The one that saw it first.'; -- text
comment on column reporting.node_incidents.failed_checks is 'The checks that failed meanwhile.'; -- text[]
comment on column reporting.node_incidents.failing_since is 'Since when a check fails by the account of the node itself; can lie before the first look.'; -- timestamptz
comment on column reporting.node_incidents.checks is 'Of each failed check: its first and its latest error, and since when and how often it failed by the count of the node itself.'; -- jsonb
comment on column reporting.node_incidents.unknown_seconds is 'Seconds of it in which no observer could tell how the node was.'; -- numeric
