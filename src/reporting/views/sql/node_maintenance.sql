create or replace view reporting_internal.node_maintenance as
select m.id, m.node, m.starts_at, m.ends_at, m.reason, m.announced_at
from recorder.health_maintenance m
where m.ends_at > m.starts_at;

comment on view reporting_internal.node_maintenance is 'Maintenance that was announced by command. Maintenance in recorder.yaml is not included. The ledger contains both kinds after their start.';
comment on column reporting_internal.node_maintenance.id is 'The id of the maintenance.'; -- integer
comment on column reporting_internal.node_maintenance.node is 'The configured node. Null: all nodes.'; -- text
comment on column reporting_internal.node_maintenance.starts_at is 'Start of the maintenance.'; -- timestamptz
comment on column reporting_internal.node_maintenance.ends_at is 'End of the maintenance.'; -- timestamptz
comment on column reporting_internal.node_maintenance.reason is 'Reason of the maintenance. Null: no reason was given.'; -- text
comment on column reporting_internal.node_maintenance.announced_at is 'Time of the announcement.'; -- timestamptz
