create or replace view reporting.node_uptime_by_day as
select u.day, u.node, u.observer,
  max(u.uptime) filter (where u.probe = 'health') as health_uptime,
  max(u.uptime) filter (where u.probe = 'readiness') as readiness_uptime,
  max(u.uptime) filter (where u.probe = 'liveness') as liveness_uptime,
  max(u.coverage) filter (where u.probe = 'health') as health_coverage,
  max(u.coverage) filter (where u.probe = 'readiness') as readiness_coverage,
  max(u.coverage) filter (where u.probe = 'liveness') as liveness_coverage
from reporting.node_uptime_daily u
group by u.day, u.node, u.observer;

comment on view reporting.node_uptime_by_day is 'Uptime by day, one row a node and observer, with a column for each probe; see reporting.node_uptime_daily.';
comment on column reporting.node_uptime_by_day.day is 'The day (UTC).'; -- date
comment on column reporting.node_uptime_by_day.node is 'The configured node.'; -- text
comment on column reporting.node_uptime_by_day.observer is 'The recorder that looked.'; -- text
comment on column reporting.node_uptime_by_day.health_uptime is 'up / (up + down) by the probe health; null where neither was seen.'; -- numeric
comment on column reporting.node_uptime_by_day.readiness_uptime is 'The same by the probe readiness.'; -- numeric
comment on column reporting.node_uptime_by_day.liveness_uptime is 'The same by the probe liveness.'; -- numeric
comment on column reporting.node_uptime_by_day.health_coverage is 'The share of the day that is accounted for by the probe health.'; -- numeric
comment on column reporting.node_uptime_by_day.readiness_coverage is 'The same by the probe readiness.'; -- numeric
comment on column reporting.node_uptime_by_day.liveness_coverage is 'The same by the probe liveness.'; -- numeric
