create or replace view reporting.node_uptime_by_month as
select u.month, u.node, u.observer,
  max(u.uptime) filter (where u.probe = 'health') as health_uptime,
  max(u.uptime) filter (where u.probe = 'readiness') as readiness_uptime,
  max(u.uptime) filter (where u.probe = 'liveness') as liveness_uptime,
  max(u.coverage) filter (where u.probe = 'health') as health_coverage,
  max(u.coverage) filter (where u.probe = 'readiness') as readiness_coverage,
  max(u.coverage) filter (where u.probe = 'liveness') as liveness_coverage
from reporting.node_uptime_monthly u
group by u.month, u.node, u.observer;

comment on view reporting.node_uptime_by_month is 'Uptime by month, one row a node and observer, with a column for each probe; see reporting.node_uptime_monthly.';
comment on column reporting.node_uptime_by_month.month is 'The month (UTC), by its first day.'; -- date
comment on column reporting.node_uptime_by_month.node is 'The configured node.'; -- text
comment on column reporting.node_uptime_by_month.observer is 'The recorder that looked.'; -- text
comment on column reporting.node_uptime_by_month.health_uptime is 'up / (up + down) by the probe health; null where neither was seen.'; -- numeric
comment on column reporting.node_uptime_by_month.readiness_uptime is 'The same by the probe readiness.'; -- numeric
comment on column reporting.node_uptime_by_month.liveness_uptime is 'The same by the probe liveness.'; -- numeric
comment on column reporting.node_uptime_by_month.health_coverage is 'The share of the month that is accounted for by the probe health.'; -- numeric
comment on column reporting.node_uptime_by_month.readiness_coverage is 'The same by the probe readiness.'; -- numeric
comment on column reporting.node_uptime_by_month.liveness_coverage is 'The same by the probe liveness.'; -- numeric
