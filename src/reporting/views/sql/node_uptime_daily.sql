create or replace view reporting.node_uptime_daily as
select u.observer, u.node, u.probe, (u.begins at time zone 'UTC')::date as day, u.up_seconds, u.down_seconds, u.unknown_seconds,
  u.maintenance_seconds, u.uptime, u.uptime_lower, u.uptime_upper, u.coverage, u.begins as since, u.ends as until
from reporting.node_uptime_by('1 day') u;

comment on view reporting.node_uptime_daily is 'Uptime of each probe by day (UTC), from its first look until now; see reporting.node_uptime.';
comment on column reporting.node_uptime_daily.observer is 'The recorder that looked.'; -- text
comment on column reporting.node_uptime_daily.node is 'The configured node.'; -- text
comment on column reporting.node_uptime_daily.probe is 'The probe.'; -- text
comment on column reporting.node_uptime_daily.day is 'The day (UTC).'; -- date
comment on column reporting.node_uptime_daily.up_seconds is 'Seconds it was up.'; -- numeric
comment on column reporting.node_uptime_daily.down_seconds is 'Seconds it was down by its own fault.'; -- numeric
comment on column reporting.node_uptime_daily.unknown_seconds is 'Seconds nobody could tell; the four add up to the watched time exactly.'; -- numeric
comment on column reporting.node_uptime_daily.maintenance_seconds is 'Seconds of announced maintenance.'; -- numeric
comment on column reporting.node_uptime_daily.uptime is 'up / (up + down); null where neither was seen.'; -- numeric
comment on column reporting.node_uptime_daily.uptime_lower is 'The uptime if it was down whenever nobody could tell.'; -- numeric
comment on column reporting.node_uptime_daily.uptime_upper is 'The uptime if it was up whenever nobody could tell.'; -- numeric
comment on column reporting.node_uptime_daily.coverage is 'The share of the watched time that is accounted for.'; -- numeric
comment on column reporting.node_uptime_daily.since is 'Begin of the part in which it was watched.'; -- timestamptz
comment on column reporting.node_uptime_daily.until is 'End of that part.'; -- timestamptz
