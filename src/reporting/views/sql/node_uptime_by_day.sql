create or replace view reporting.node_uptime_by_day as
select u.observer, u.node, u.probe, (u.begins at time zone 'UTC')::date as day, u.up_seconds, u.down_seconds, u.unknown_seconds,
  u.maintenance_seconds, u.uptime, u.uptime_lower, u.uptime_upper, u.coverage, u.begins as since, u.ends as until
from reporting.node_uptime_by('1 day') u;

comment on view reporting.node_uptime_by_day is 'Uptime of each probe by day (UTC), from its first probe until now; see reporting.node_uptime.';
comment on column reporting.node_uptime_by_day.observer is 'The observer: the name of its recorder.'; -- text
comment on column reporting.node_uptime_by_day.node is 'The configured node.'; -- text
comment on column reporting.node_uptime_by_day.probe is 'The probe.'; -- text
comment on column reporting.node_uptime_by_day.day is 'The day (UTC).'; -- date
comment on column reporting.node_uptime_by_day.up_seconds is 'Seconds in which the node was up.'; -- numeric
comment on column reporting.node_uptime_by_day.down_seconds is 'Seconds in which the node was down because of its own failure.'; -- numeric
comment on column reporting.node_uptime_by_day.unknown_seconds is 'Seconds in which the state is unknown. The four durations add up to the watched time.'; -- numeric
comment on column reporting.node_uptime_by_day.maintenance_seconds is 'Seconds of announced maintenance.'; -- numeric
comment on column reporting.node_uptime_by_day.uptime is 'up / (up + down). Null: the node was observed neither as up nor as down.'; -- numeric
comment on column reporting.node_uptime_by_day.uptime_lower is 'The uptime if the node was down in all unknown time.'; -- numeric
comment on column reporting.node_uptime_by_day.uptime_upper is 'The uptime if the node was up in all unknown time.'; -- numeric
comment on column reporting.node_uptime_by_day.coverage is 'Share of the watched time in which the state is known.'; -- numeric
comment on column reporting.node_uptime_by_day.since is 'Start of the watched part of the day.'; -- timestamptz
comment on column reporting.node_uptime_by_day.until is 'End of the watched part of the day.'; -- timestamptz
