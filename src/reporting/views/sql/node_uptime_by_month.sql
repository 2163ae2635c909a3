create or replace view reporting.node_uptime_by_month as
select u.observer, u.node, u.probe, (u.begins at time zone 'UTC')::date as month, u.up_seconds, u.down_seconds, u.unknown_seconds,
  u.maintenance_seconds, u.uptime, u.uptime_lower, u.uptime_upper, u.coverage, u.begins as since, u.ends as until
from reporting.node_uptime_by('1 month') u;

comment on view reporting.node_uptime_by_month is 'Uptime of each probe by month (UTC), from its first look until now; see reporting.node_uptime.';
comment on column reporting.node_uptime_by_month.observer is 'The recorder that looked.'; -- text
comment on column reporting.node_uptime_by_month.node is 'The configured node.'; -- text
comment on column reporting.node_uptime_by_month.probe is 'The probe.'; -- text
comment on column reporting.node_uptime_by_month.month is 'The month (UTC), by its first day.'; -- date
comment on column reporting.node_uptime_by_month.up_seconds is 'Seconds it was up.'; -- numeric
comment on column reporting.node_uptime_by_month.down_seconds is 'Seconds it was down by its own fault.'; -- numeric
comment on column reporting.node_uptime_by_month.unknown_seconds is 'Seconds in which the state is unknown; the four add up to the watched time exactly.'; -- numeric
comment on column reporting.node_uptime_by_month.maintenance_seconds is 'Seconds of announced maintenance.'; -- numeric
comment on column reporting.node_uptime_by_month.uptime is 'up / (up + down); null where neither was seen.'; -- numeric
comment on column reporting.node_uptime_by_month.uptime_lower is 'The uptime if the node was down in all unknown time.'; -- numeric
comment on column reporting.node_uptime_by_month.uptime_upper is 'The uptime if the node was up in all unknown time.'; -- numeric
comment on column reporting.node_uptime_by_month.coverage is 'The share of the watched time that is accounted for.'; -- numeric
comment on column reporting.node_uptime_by_month.since is 'Start of the part in which it was watched.'; -- timestamptz
comment on column reporting.node_uptime_by_month.until is 'End of that part.'; -- timestamptz
