create or replace view reporting.node_incidents as
select i.node, i.probe, i.started_at, i.ended_at, i.is_open, i.duration_seconds, i.down_seconds, i.outages, i.first_error, i.last_error, i.noticed_by, i.first_noticed_by, i.failed_checks, i.failing_since, i.checks, i.unknown_seconds
from reporting.node_incidents_as_of('infinity') i;

comment on view reporting.node_incidents is 'Periods in which nodes were down, by all observers together. An up time of less than 5 minutes does not end an incident.';
comment on column reporting.node_incidents.node is 'The configured node.'; -- text
comment on column reporting.node_incidents.probe is 'The probe. With :TAG: only the checks with that tag.'; -- text
comment on column reporting.node_incidents.started_at is 'Time of the first failure.'; -- timestamptz
comment on column reporting.node_incidents.ended_at is 'Time of the recovery. Null: the incident is open.'; -- timestamptz
comment on column reporting.node_incidents.is_open is 'True if the incident is open.'; -- boolean
comment on column reporting.node_incidents.duration_seconds is 'Seconds from the first failure to the end, or to the last probe.'; -- numeric
comment on column reporting.node_incidents.down_seconds is 'Seconds for which the node was observed as down, by the observer with the longest observation. Times without probes do not count.'; -- numeric
comment on column reporting.node_incidents.outages is 'Number of outages within the incident.'; -- bigint
comment on column reporting.node_incidents.first_error is 'The first error message.'; -- text
comment on column reporting.node_incidents.last_error is 'The latest error message.'; -- text
comment on column reporting.node_incidents.noticed_by is 'The observers that observed the node as down.'; -- text[]
comment on column reporting.node_incidents.first_noticed_by is 'The observer that observed the outage first.'; -- text
comment on column reporting.node_incidents.failed_checks is 'The checks that failed during the incident.'; -- text[]
comment on column reporting.node_incidents.failing_since is 'Start of the failure of a check as reported by the node. This start can be before the first probe.'; -- timestamptz
comment on column reporting.node_incidents.checks is 'For each failed check: its first and its latest error, and the start and the number of its failures as reported by the node.'; -- jsonb
comment on column reporting.node_incidents.unknown_seconds is 'Seconds in which no observer could determine the state of the node.'; -- numeric
